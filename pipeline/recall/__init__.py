"""What later sessions are given: ranked hits in, one fenced and attributed block out.

    search --> Recall(hits, mode, excluded) --render--> <afterword-memory ...> lines </afterword-memory>

Failure handling: a search that lost its vectors says so in its mode, and the block repeats it; what does not fit is
counted in the block, never cut short; an empty recall renders as a block that says so.
"""
