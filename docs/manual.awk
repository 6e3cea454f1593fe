# SPDX-License-Identifier: GPL-3.0-or-later
# The markdown of this folder as mdoc, for pages of section 5: headings, paragraphs, lists, code, and tables,
# which become lists, because a terminal is too narrow for six columns. -v name=NAME -v about=ONE_LINE.
BEGIN {
    printf ".\\\" Made by docs/manual.sh.\n.Dd %s\n.Dt %s 5\n.Os\n.Sh NAME\n.Nm %s\n.Nd %s\n.Sh DESCRIPTION\n", date, toupper(name), name, about
    fresh = 1
}

# Text that may begin a line.
function escaped(text) {
    gsub(/\\\|/, "|", text)
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text
}

function inline(text) {
    text = escaped(text)
    while (match(text, /\[[^]]*\]\([^)]*\)/)) {
        link = substr(text, RSTART + 1, index(substr(text, RSTART), "](") - 2)
        text = substr(text, 1, RSTART - 1) link substr(text, RSTART + RLENGTH)
    }
    while (match(text, /`[^`]*`/))
        text = substr(text, 1, RSTART - 1) "\\fB" substr(text, RSTART + 1, RLENGTH - 2) "\\fR" substr(text, RSTART + RLENGTH)
    while (match(text, /\*\*[^*]*\*\*/))
        text = substr(text, 1, RSTART - 1) "\\fI" substr(text, RSTART + 2, RLENGTH - 4) "\\fR" substr(text, RSTART + RLENGTH)
    return text
}

# Running text in lines of a moderate width, a new one for each sentence.
function put(text,    words, count, i, line) {
    count = split(inline(text), words, " ")
    line = ""
    for (i = 1; i <= count; i++) {
        if (line != "" && (length(line) + length(words[i]) > 64 || line ~ /[.!?]$/)) {
            print line
            line = ""
        }
        if (line == "" && words[i] ~ /^[.']/)
            words[i] = "\\&" words[i]
        line = line (line == "" ? "" : " ") words[i]
    }
    if (line != "")
        print line
}

function flush() {
    if (paragraph != "") {
        if (!fresh && !in_list)
            print ".Pp"
        put(paragraph)
        fresh = 0
    }
    paragraph = ""
}

function leave() {
    flush()
    if (in_list)
        print ".El"
    in_list = 0
    head_count = 0
}

function open_list(kind) {
    flush()
    if (!in_list)
        print ".Bl -" kind
    in_list = 1
    fresh = 0
}

function tag(text) {
    gsub(/`/, "", text)
    gsub(/"/, "\\(dq", text)
    print ".It Sy \"" escaped(text) "\""
}

function put_row(count, cells,    first, i, about_it) {
    first = 1
    if (heads[1] == "Table") {
        first = 2
        if (cells[1] != group) {
            leave_rows()
            print ".Ss " escaped(cells[1])
            group = cells[1]
        }
    }
    open_list("tag -width Ds")
    tag(cells[first])
    for (i = first + 1; i < count; i++)
        if (cells[i] != "")
            about_it = about_it (about_it == "" ? "" : ", ") heads[i] " " cells[i]
    if (about_it != "") {
        put(toupper(substr(about_it, 1, 1)) substr(about_it, 2) ".")
        if (cells[count] != "")
            print ".br"
    }
    put(cells[count])
}

function leave_rows() {
    if (in_list)
        print ".El"
    in_list = 0
}

/^```/ {
    if (!in_code)
        leave()
    print in_code ? ".Ed" : ".Bd -literal -offset indent"
    in_code = !in_code
    fresh = 0
    next
}
in_code {
    gsub(/\\/, "\\e")
    print ($0 ~ /^[.']/ ? "\\&" : "") $0
    next
}
/^<!--/ || /^# / { next }
/^###? / {
    leave()
    level = index($0, " ") - 1
    sub(/^#+ /, "")
    print (level == 2 ? ".Sh " toupper($0) : ".Ss " inline($0))
    fresh = 1
    next
}
/^\|/ {
    flush()
    row = substr($0, 3, length($0) - 4)
    gsub(/\\\|/, "\001", row)
    count = split(row, cells, / *\| */)
    for (i = 1; i <= count; i++) {
        gsub(/\001/, "|", cells[i])
        sub(/^ +/, "", cells[i])
        sub(/ +$/, "", cells[i])
    }
    if (head_count == 0) {
        head_count = count
        group = ""
        for (i = 1; i <= count; i++)
            heads[i] = cells[i]
    } else if (row !~ /^[-: |]+$/) {
        put_row(count, cells)
    }
    next
}
/^- / {
    open_list("bullet")
    print ".It"
    paragraph = substr($0, 3)
    next
}
/^$/ { leave(); next }
{ paragraph = paragraph (paragraph == "" ? "" : " ") $0 }
END { leave() }
