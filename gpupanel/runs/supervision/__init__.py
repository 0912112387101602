"""Supervision of a run: started, watched, started again where that helps, and its end written.

In reading order, which is the order in which things happen:

1. ``process``: the process of a supervisor; ``supervisor`` takes the run's lock, lets
   ``telemetry`` sample the devices (those of other nodes: ``node_samples``) for whoever listens
   (``energy_meter``, ``gpu_loss``, ``finding_watch``, ``memory.gpu_watch``), starts attempts, and
   writes the last event. ``checked_run`` gives it profile and plan.
2. ``attempt``: one start of all processes, by what ``attempt_setup`` holds. They are a ``gang``:
   a ``local_gang`` or a ``cluster_gang``. Every 0.1 s it is polled, ``gang_reports`` reads the
   events of the processes, and ``gang_end`` carries out what people ask and ``watchdogs`` decide.
3. ``exit_reading`` reads which process failed first and gives a ``FinishedAttempt``; ``problems``
   has the sentences.
4. ``restarts`` explains the failure, with ``memory.response`` and ``gpu_loss``, and decides
   whether and with what plan the next attempt starts: back to 2, or the run is over.
"""
