"""Small tables that lvmkit reads: diagnosis codes and the bundled synthetic cohort."""
