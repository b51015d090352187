"""Reports, a file each: ``projections.analytics.reports.contract`` says what is in one."""
