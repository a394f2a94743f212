# The server of every stage: docker build -t afterword-server:0.1.0 .

FROM python:3.11-slim AS build
WORKDIR /build
COPY requirements/build.txt requirements/fleet.txt requirements/
RUN python -m venv --without-pip /opt/afterword \
 && pip install --no-cache-dir --require-hashes -r requirements/build.txt \
 && pip --python /opt/afterword/bin/python install --no-cache-dir --require-hashes -r requirements/fleet.txt
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY pipeline/ pipeline/
COPY db/ db/
COPY workers/ workers/
COPY gateway/ gateway/
COPY ops/ ops/
RUN pip wheel --no-deps --no-build-isolation --no-index --wheel-dir dist . \
 && pip --python /opt/afterword/bin/python install --no-deps --no-index dist/*.whl \
 && /opt/afterword/bin/python -m compileall -q /opt/afterword/lib

# No pip, no compiler, no source tree: the virtual environment alone.
FROM python:3.11-slim
RUN pip uninstall --yes --quiet --root-user-action=ignore setuptools wheel pip \
 && groupadd --gid 10001 afterword \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/afterword --shell /usr/sbin/nologin afterword \
 && install --directory --owner=10001 --group=10001 --mode=0700 /var/lib/afterword /var/lib/afterword-witness
COPY --from=build /opt/afterword /opt/afterword
ENV PATH=/opt/afterword/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    AFTERWORD_HOME=/var/lib/afterword
USER 10001:10001
ENTRYPOINT ["afterword"]
CMD ["--help"]
