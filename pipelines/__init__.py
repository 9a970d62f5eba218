"""Plans and the pipelines they become. Modules here only compose."""
