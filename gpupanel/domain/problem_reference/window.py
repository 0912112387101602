"""Window, files and exports."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Window, files and exports",
    "The desktop, disks and what is written for others.",
    {
        "no_display": ProblemEntry(
            "There is no display to open a window on.",
            "Neither DISPLAY nor WAYLAND_DISPLAY is set.",
            "Start it from a desktop session, or log in with `ssh -X`; the terminal works without.",
        ),
        "qt_platform_unknown": ProblemEntry(
            "`QT_QPA_PLATFORM` names a platform that Qt does not know.",
            "A shell's start file sets it, for another Qt or with a mistake.",
            "Start the window without it: the command does.",
        ),
        "display_not_answering": ProblemEntry(
            "The display does not answer.",
            "It is gone, or another user's.",
            "Start it from your own desktop session, or log in with `ssh -X`.",
        ),
        "qt_libraries_missing": ProblemEntry(
            "Qt needs libraries that this system lacks.",
            "A small or server installation does not bring them.",
            "Run the command that is shown.",
        ),
        "unexpected_error": ProblemEntry(
            "Something in gpupanel failed that nobody expected.",
            "This is a defect of gpupanel.",
            "Runs are not affected. Report the lines that are shown.",
        ),
        "window_settings_unusable": ProblemEntry(
            "The window's settings cannot be used.",
            "Their file is damaged or may not be written.",
            "Move it away, and open the window again.",
        ),
        "runs_folder_unusable": ProblemEntry(
            "The folder of runs cannot be used.",
            "It is a file, may not be written, or is not a whole path.",
            "Choose a folder of your own.",
        ),
        "drop_not_understood": ProblemEntry(
            "Nothing can be done with what was dropped.",
            "It is none of the files that gpupanel knows.",
            "Drop a profile, a run's folder, data or a `.keras` model.",
        ),
        "desktop_file_in_the_way": ProblemEntry(
            "A file is where the launcher belongs.",
            "Something else put it there.",
            "Move it away, then try again.",
        ),
        "desktop_without_command": ProblemEntry(
            "There is no command that a launcher could start.",
            "It was started in another way than by an installed command.",
            "Install it with pip, pipx or uv, and run that one.",
        ),
        "process_is_another": ProblemEntry(
            "A process that was to be ended is another one by now.",
            "It ended, and its number was given again.",
            "Check the list again: nothing was ended.",
        ),
        "process_is_this_one": ProblemEntry(
            "The process is gpupanel itself.",
            "Its window uses the GPU.",
            "Close the window instead.",
        ),
        "process_of_a_run": ProblemEntry(
            "The process belongs to a run in progress.",
            "Ending it would lose what was not saved.",
            "Stop the run.",
        ),
        "process_of_somebody_else": ProblemEntry(
            "The process belongs to another user.",
            "Only they, or an administrator, can end it.",
            "Ask them.",
        ),
        "process_not_endable": ProblemEntry(
            "The system does not let you end the process.",
            "It was started with other rights.",
            "Ask an administrator.",
        ),
        "process_not_started": ProblemEntry(
            "The system cannot start another process.",
            "There is no memory, or there are too many.",
            "Close programs, then try again.",
        ),
        "no_space": ProblemEntry(
            "There is no space left on a disk.",
            "A run needs some for checkpoints and its model.",
            "Free some, or choose another folder of runs (`$GPUPANEL_RUNS_DIR`).",
        ),
        "no_inodes": ProblemEntry(
            "A disk can hold no more files, though space is free.",
            "All of its inodes are in use: there are very many small files.",
            "Delete files that are not needed, or choose another folder of runs.",
        ),
        "quota_used_up": ProblemEntry(
            "Your quota on a disk is used up.",
            "Your files there take as much as you may store; the disk itself may have space.",
            "Free some space of your own (`quota -s` lists it), or choose another folder.",
        ),
        "file_size_limited": ProblemEntry(
            "A file would be larger than the largest one allowed.",
            "A limit of the shell (`ulimit -f`), or of the file system.",
            "Raise the limit and start again, or choose another folder.",
        ),
        "read_only": ProblemEntry(
            "A file system is mounted read-only.",
            "Somebody mounted it so, or Linux did after a disk has failed.",
            "Read the kernel log (`dmesg`), or choose another folder.",
        ),
        "disk_failing": ProblemEntry(
            "A disk answers with an input/output error.",
            "The disk, its cable or its network is failing.",
            "Copy what matters to another disk, and read the kernel log (`dmesg`).",
        ),
        "disk_not_answering": ProblemEntry(
            "A network folder does not answer.",
            "Its server is down, or it is not mounted any more.",
            "See that it is mounted and its server runs, then try again.",
        ),
        "folder_without_locks": ProblemEntry(
            "The file system of a folder has no locks (`flock`).",
            "Lustre mounted without `-o flock`, NFS without its lock service, some FUSE file "
            "systems. Without locks two processes would undo each other's work.",
            "Choose another folder (`$GPUPANEL_RUNS_DIR`, `$GPUPANEL_STATE_DIR`, "
            "`$GPUPANEL_CACHE_DIR`), or have it mounted with locks.",
        ),
        "too_many_files": ProblemEntry(
            "No more files can be opened.",
            "This process, or the machine, holds as many as it may.",
            "Raise the limit (`ulimit -n`), or end programs that hold many files.",
        ),
        "place_taken": ProblemEntry(
            "Something else stands where a file or folder is to be made.",
            "A file has the name of a folder, or the other way round.",
            "Move it away, or choose another place.",
        ),
        "disk_error": ProblemEntry(
            "A file or folder could not be used.",
            "The disk fails, or the path is wrong.",
            "Check both, then try again.",
        ),
        "verb_unknown": ProblemEntry(
            "The first word after `gpupanel` is not a verb, nor the name of a profile or run.",
            "It is mistyped, or the profile or run is in another folder.",
            "`gpupanel --help` lists the verbs, `gpupanel runs` the runs.",
        ),
        "file_missing": ProblemEntry(
            "A file does not exist.",
            "It was moved or renamed.",
            "Check the path.",
        ),
        "not_permitted": ProblemEntry(
            "A file may not be read or written by this user.",
            "Its permissions.",
            "Change them, or choose another place.",
        ),
        "not_a_regular_file": ProblemEntry(
            "A path is not a regular file.",
            "It is a folder, a device or a pipe: it is neither read nor replaced.",
            "Choose another file.",
        ),
        "file_ending_unknown": ProblemEntry(
            "The name of a file that is to be written ends as those of other files do.",
            "`-o`, `--fixed` or `--apply` names it: a script would be in what is called a PDF.",
            "Choose an ending that is listed, such as `.py` or `.html`; a profile ends in `.toml`.",
        ),
        "export_needs_run": ProblemEntry(
            "What was asked for is of a run, not of a profile.",
            "A report or a model needs one.",
            "Name a run: `gpupanel runs` lists them.",
        ),
        "export_in_the_way": ProblemEntry(
            "The folder to export to is there already.",
            "A SavedModel is a folder of its own.",
            "Name another one.",
        ),
        "export_not_available": ProblemEntry(
            "There is no script of this profile.",
            "Only a saved model can be evaluated or can predict, and none is chosen.",
            "Check the profile: that shows what to change.",
        ),
        "export_not_convertible": ProblemEntry(
            "The model has operations that TFLite has no form of.",
            "The converter refused them.",
            "Export it as a SavedModel.",
        ),
        "export_not_quantized": ProblemEntry(
            "Only a TFLite file can hold its weights in fewer bits.",
            "Another format was chosen.",
            "Leave `--quantize` out, or use `--format tflite`.",
        ),
        "export_without_weights": ProblemEntry(
            "`--weights` chooses among the weights of a model, and no model is exported.",
            "A script, notebook or report was chosen.",
            "Leave `--weights` out, or name a model's format.",
        ),
        "weights_not_saved": ProblemEntry(
            "A run has no model with the weights that were asked for.",
            "Nothing was validated, they were not kept, or an earlier version trained the run.",
            "Leave `--weights` out to have the weights that the run kept.",
        ),
        "export_not_for_slurm": ProblemEntry(
            "`--slurm` and `--format` want different files.",
            "A batch script is a script, not a model, a notebook or a report.",
            "Leave one of the two out.",
        ),
        "export_without_examples": ProblemEntry(
            "`int8` needs examples, and the run's data is not here.",
            "They show which numbers come up.",
            "Export as float16, or put the data where the profile says.",
        ),
        "export_without_script": ProblemEntry(
            "The script that predicts was not written.",
            "Another program's file is in its place.",
            "Export into another folder to have it.",
        ),
        "model_export_not_started": ProblemEntry(
            "The process that exports the model could not be started.",
            "The installation is damaged, or the system has no room for a process.",
            "Repair the installation; the detail has the system's answer.",
        ),
        "model_export_too_slow": ProblemEntry(
            "Exporting the model took too long.",
            "It is very large, or the machine is busy.",
            "Try again later.",
        ),
        "model_export_died": ProblemEntry(
            "The process that exports the model ended.",
            "It may have run out of memory.",
            "Close programs and try again; the detail has the last words.",
        ),
        "model_export_unreadable": ProblemEntry(
            "The process that exports the model gave an answer that cannot be read.",
            "This is a defect of gpupanel.",
            "Report it with the detail.",
        ),
    },
)
