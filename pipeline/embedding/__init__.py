"""Vectors for what may be recalled, each under the stamp of the space it lives in.

    active memories --passages--> Embedder --(n, dimension) float32--> the stamp's own table
    question        --query-----> Embedder --(dimension,)  float32--> nearest neighbours within that table

`port` declares the embedder and its stamp, `probe` tries one; `adapters.local` runs the bundled model in this process,
`adapters.onnx` one from a folder, `adapters.openai` asks any OpenAI-compatible endpoint.

Failure handling: an endpoint that is busy, broken or silent raises ModelUnavailable (with its Retry-After) and one that
refuses raises ModelRefused; nothing is retried here, since attempts are the run's and are counted there. A missing
wheel, another model file than the pinned one and another dimension than the stamp's raise SettingError before any
vector is returned: a vector of an unknown space never reaches a table. Vectors that are not finite or have no length
are refused, never repaired. Memories stay recallable by their words while all of this fails.
"""
