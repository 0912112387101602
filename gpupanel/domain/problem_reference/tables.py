"""Tables and texts."""

from typing import Final

from gpupanel.domain.problem_reference.entry import ProblemChapter, ProblemEntry

CHAPTER: Final = ProblemChapter(
    "Tables and texts",
    "CSV and Parquet files, folders of texts, and columns that hold texts.",
    {
        "table_no_text": ProblemEntry(
            "The file holds bytes that no text has.",
            "It is a spreadsheet or another binary file.",
            "Choose a `.csv`, `.tsv` or `.parquet` file; save a spreadsheet as CSV first.",
        ),
        "table_encoding": ProblemEntry(
            "The file is not in the encoding that was assumed.",
            "It was written by another program, such as in `cp1252`.",
            "Set `data.encoding` to what it was written in.",
        ),
        "table_ragged": ProblemEntry(
            "A line has more or fewer cells than there are columns.",
            "Text with a delimiter in it stands without quotation marks, or the delimiter is "
            "another one.",
            "Correct that line, or choose `data.delimiter`.",
        ),
        "table_quote_open": ProblemEntry(
            "A quotation mark is never closed.",
            "One cell then holds all lines that follow.",
            "Close it, or remove it.",
        ),
        "table_line_too_long": ProblemEntry(
            "A line is longer than a row of any table.",
            "An open quotation mark, or a file that is not a table.",
            "Check that line.",
        ),
        "table_too_many_columns": ProblemEntry(
            "The table has too many columns.",
            "Rows and columns are exchanged.",
            "Save it the other way round, or as a NumPy array.",
        ),
        "table_too_many_rows": ProblemEntry(
            "The table has too many rows.",
            "More than can be indexed.",
            "Train on a part of it.",
        ),
        "table_column_missing": ProblemEntry(
            "A column that is named is not in the table.",
            "It is mistyped, or another table was chosen.",
            "Name columns that are there.",
        ),
        "table_cell_empty": ProblemEntry(
            "A cell is empty where none is allowed.",
            '`data.missing` is `"error"`.',
            'Fill it in, or set `data.missing` to `"mean"` or `"drop"`.',
        ),
        "table_cell_misfit": ProblemEntry(
            "A cell is not of the kind that its column has.",
            "A typing error, a unit or a word for a missing value.",
            "Correct or empty it; or take the column as a category, or leave it out.",
        ),
        "table_numbers_unclear": ProblemEntry(
            "The numbers of a column may mean two things.",
            "The text 1,234 is a thousand where a comma divides thousands, and little more than 1 "
            "where it stands before decimals; no cell of it, and no other column, shows which.",
            "Say in `data.decimal` which character stands before decimals.",
        ),
        "table_dates_unclear": ProblemEntry(
            "The dates of a column may mean two things.",
            "The day 03/04/2024 is in March where the month comes first, else in April, and no "
            "cell shows which.",
            "Say it in `data.date_order`.",
        ),
        "table_cells_read": ProblemEntry(
            "Numbers or dates are written otherwise than programs write them.",
            "They have thousands separators, a decimal comma, a currency or percent sign, or the "
            "day or month before the year. Cells of their columns show how they are meant.",
            "Nothing, if they are read as they are meant; else set `data.decimal` or "
            "`data.date_order`, or name the column in `data.categories`.",
        ),
        "table_encoding_guessed": ProblemEntry(
            "A text that is not UTF-8 is read in an encoding that was guessed.",
            "Nothing in a text file says its encoding, and letters of another one would differ.",
            "Choose `data.encoding`, or save the file as UTF-8.",
        ),
        "table_leading_zeros": ProblemEntry(
            "A column of digits with leading zeros is read as numbers.",
            "Postcodes and other codes are written so, and their size means nothing.",
            "Name the column in `data.categories`, or in `data.numbers` where they are numbers.",
        ),
        "table_target_constant": ProblemEntry(
            "What is predicted is the same in every row.",
            "Numbers are kept to seven digits: identifiers of more are the same number.",
            "Choose another target, or predict classes.",
        ),
        "table_column_seems": ProblemEntry(
            "A column looks like numbers or dates, and is taken for categories.",
            "Some of its cells are written otherwise, have a unit that is not known, or are of "
            "several currencies; or a Parquet file holds them as texts.",
            "Write them alike and name the column in `data.numbers` or `data.dates`; or name it in "
            "`data.categories`.",
        ),
        "table_changed": ProblemEntry(
            "The table was changed while it was read.",
            "Another program writes it.",
            "Wait until it is done, and start again.",
        ),
        "table_cache": ProblemEntry(
            "The rows cannot be kept in the cache.",
            "They are kept there as numbers of 32 bits, about as large as the CSV file.",
            "Make room, or set `GPUPANEL_CACHE_DIR` to a folder on a disk that has some.",
        ),
        "table_not_imported": ProblemEntry(
            "A large table is shown after its first run.",
            "That run imports it once.",
            "Nothing: what its columns hold is found from some rows.",
        ),
        "table_no_features": ProblemEntry(
            "The table has no column to learn from.",
            "All others are texts of many values, empty, or left out.",
            "Choose `data.target`, or name columns in `data.categories` or `data.numbers`.",
        ),
        "table_target_ignored": ProblemEntry(
            "A column is both predicted and left out.",
            "It is in `data.target` and in `data.ignore`.",
            "Remove it from one of them.",
        ),
        "table_target_unfit": ProblemEntry(
            "The target cannot be predicted as chosen.",
            "It is empty, or holds texts where numbers are wanted, or too many different values.",
            "Do what the hint says, or choose another column.",
        ),
        "target_is_feature": ProblemEntry(
            "The model takes the column that is to be predicted.",
            "It was trained with it as a feature.",
            "Choose another target, or a model that was trained without it.",
        ),
        "table_class_unknown": ProblemEntry(
            "A row has a class that the model does not know.",
            "It was trained on other classes.",
            "Evaluate on rows of its classes.",
        ),
        "table_categories_unknown": ProblemEntry(
            "Rows hold categories that training did not know.",
            "They are none of the categories there.",
            "Train on rows with these values if they matter.",
        ),
        "table_categories_unfit": ProblemEntry(
            "A column holds other things than in training.",
            "It has far more different texts.",
            "Choose a table whose column of that name holds what it held then.",
        ),
        "table_too_many_categories": ProblemEntry(
            "Too many columns hold categories for the model `table`.",
            "It learns numbers for a limited number of columns.",
            "Leave columns out, or use dense layers (`mlp`).",
        ),
        "table_constant_columns": ProblemEntry(
            "A column has the same value in every row.",
            "Nothing can be learned from it.",
            "Leave it out.",
        ),
        "table_target_row_numbers": ProblemEntry(
            "The column that was found to be predicted holds row numbers.",
            "No target was chosen, and the last column is an index or an id.",
            "Choose `data.target`.",
        ),
        "table_row_numbers": ProblemEntry(
            "A column numbers or names the rows, in their order or another one.",
            "It is an index or an id.",
            "Leave it out.",
        ),
        "table_column_is_target": ProblemEntry(
            "A column alone determines what is predicted.",
            "It is the target in other words, or follows from it: a code, an amount, a date that "
            "is known only afterwards (a leak).",
            "Leave it out in `data.ignore`, unless it is known before the prediction.",
        ),
        "table_rows_left_out": ProblemEntry(
            "Rows are left out.",
            "They have an empty cell where none is allowed.",
            "Fill them in if they matter.",
        ),
        "table_infinite": ProblemEntry(
            "A column holds infinite numbers.",
            "A division by 0, or a number larger than 32 bits hold.",
            "Nothing, if such a cell is empty; else correct it.",
        ),
        "table_number_for_missing": ProblemEntry(
            "A number stands for missing values, as it seems.",
            "Many programs write -999, 9999 or the like where they know nothing.",
            "Name it in `data.empty_words`; or the column in `data.numbers` if it is a number.",
        ),
        "table_days_as_numbers": ProblemEntry(
            "A column of numbers holds days.",
            "They are written without marks, as 20260131.",
            "Name the column in `data.dates`; or in `data.numbers` if they are numbers.",
        ),
        "table_digits_lost": ProblemEntry(
            "Numbers differ in digits that are not kept.",
            "They are kept to seven digits, as training calculates; identifiers and moments in "
            "milliseconds have more.",
            "Leave the column out, or subtract what the numbers have in common.",
        ),
        "table_columns_not_read": ProblemEntry(
            "Columns of a Parquet file are not read.",
            "They hold lists, structures, bytes, times of day or durations, or have the name of "
            "another one.",
            "Save them as numbers, dates or texts if they matter.",
        ),
        "table_names_alike": ProblemEntry(
            "Names of classes or categories differ only in case or spaces.",
            "They were typed by hand, or come from several files.",
            "Write them alike in the file if they mean the same.",
        ),
        "table_names_again": ProblemEntry(
            "The line of names is among the rows.",
            "Files were joined, each with a line of names.",
            "Remove these lines from the file.",
        ),
        "table_one_number_twice": ProblemEntry(
            "A column holds one number written in two ways, such as 3.1 and 3.10.",
            "They may be two versions or codes, which a number does not distinguish.",
            "Name the column in `data.categories` if they are names, else in `data.numbers`.",
        ),
        "table_spaces": ProblemEntry(
            "Spaces divide the cells of a table.",
            "Another program wrote it for people, or with a decimal comma.",
            "Write a comma, a semicolon, a tab or a vertical bar between the cells.",
        ),
        "table_target_values": ProblemEntry(
            "All but some rows hold numbers of classes, and the others make values of them.",
            "A slip in some cells, or values that are mostly whole.",
            "Set `data.predicts`.",
        ),
        "table_second_names": ProblemEntry(
            "The first row holds names that no other row has.",
            "The table has two lines of names, or a line of units below the names.",
            "Remove that line, or set `data.skip_lines`.",
        ),
        "table_total_line": ProblemEntry(
            "The last row seems to hold totals of the others.",
            "A spreadsheet or a report ends with them.",
            "Remove that line from the file, unless it is an example.",
        ),
        "table_quote_stray": ProblemEntry(
            "A quotation mark makes one cell of lines that look like rows.",
            "It stands there by itself, and no cell was meant to begin or end with it.",
            "Set `data.quoting` to none; or to double if the lines are the text of a cell.",
        ),
        "table_lines_skipped": ProblemEntry(
            "Lines before the table are left out.",
            "They have at most half as many cells as the rows: titles, comments.",
            "Set `data.skip_lines` if it is otherwise.",
        ),
        "table_header_unsure": ProblemEntry(
            "The first line may name the columns, or be a row.",
            "It holds what other rows hold, or numbers that may be years or places of columns.",
            "Set `data.header`.",
        ),
        "table_words_kept": ProblemEntry(
            "A word such as None, NA, ? or - is taken as the name of a class or category.",
            "It may be one, or mean that the cell is empty.",
            "Keep it, or name it in `data.empty_words`.",
        ),
        "table_words_empty": ProblemEntry(
            "A word such as null or NaN in what is predicted is taken for an empty cell.",
            "It means nothing in most files, and may be the name of a class.",
            "Leave it out of `data.empty_words` if it is a name.",
        ),
        "table_group_texts": ProblemEntry(
            "The group column cannot be used.",
            "It holds nothing, or more than 16,777,216 different values.",
            "Choose another column.",
        ),
        "table_recipe_missing": ProblemEntry(
            "The saved model has no record of how its features are made of columns.",
            "It was not trained on a table by gpupanel.",
            "Use a model that was; or save the rows as it takes them in a NumPy array.",
        ),
        "table_recipe_unreadable": ProblemEntry(
            "The saved model's record of its columns cannot be read.",
            "A newer version wrote it.",
            "Use the model of a run of this version.",
        ),
        "text_binary": ProblemEntry(
            "A file of texts holds bytes that no text has.",
            "It is of another kind.",
            "Remove it, or save it as text.",
        ),
        "text_encoding": ProblemEntry(
            "A text is not in the encoding that was assumed.",
            "Another program wrote it.",
            "Set `data.encoding` to what it was written in, or remove the file.",
        ),
        "text_column_ambiguous": ProblemEntry(
            "It is not clear which column holds the texts.",
            "None, or several, hold sentences.",
            "Choose `data.text`.",
        ),
        "text_without_target": ProblemEntry(
            "There is no column to predict beside the texts.",
            "The table has one column only.",
            "Choose another column in `data.target`.",
        ),
        "text_links_left_out": ProblemEntry(
            "Links in a folder of texts are left out.",
            "They may lead anywhere.",
            "Choose the folder that holds the texts themselves.",
        ),
        "text_recipe_missing": ProblemEntry(
            "The saved model has no record of its vocabulary.",
            "It was not trained on texts by gpupanel.",
            "Use a model that was.",
        ),
        "texts_changed": ProblemEntry(
            "The texts were changed while they were read.",
            "Another program writes them.",
            "Wait until it is done, and start again.",
        ),
        "texts_not_counted": ProblemEntry(
            "The texts are shown after the first run.",
            "There are too many to be counted while you wait.",
            "Nothing: that run counts them, once.",
        ),
        "texts_not_kept": ProblemEntry(
            "The words of the texts cannot be kept in the cache.",
            "They are kept as numbers of 32 bits, about as large as the texts.",
            "Make room, or set `GPUPANEL_CACHE_DIR` to a folder on a disk that has some.",
        ),
        "texts_of_two_kinds": ProblemEntry(
            "One set is a table and the other a folder.",
            "Both have to be of one kind.",
            "Choose sets of the same kind.",
        ),
    },
)
