"""``th --lsp``: a language server for Lua programs that use Torch7. None of their code is run."""
