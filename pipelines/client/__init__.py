"""Plans on a Kubeflow Pipelines server: uploaded, run, scheduled, and their results brought home.

The generated client of the server's REST API (kfp_server_api) is used as it stands, not kfp.Client around it: that one
prints, sleeps, and writes files to the user's home.
"""
