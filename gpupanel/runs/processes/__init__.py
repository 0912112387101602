"""The processes of a run: started, watched for life, ended."""
