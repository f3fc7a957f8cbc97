"""What is said about examples beside them: in comments of the page, files beside it, its folder."""
