"""What every subject uses: input validation, feature names, types, linear algebra, threads, progress, files."""
