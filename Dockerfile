# An image with the command. Results go to /audit, which the user of the container owns. A folder that docker creates is
# root's, and a stopped audit may take 15 seconds to write its results:
#
#   docker build -t sitemapcrawler .
#   mkdir -p audit
#   docker run --rm --stop-timeout 20 -v "$PWD/audit:/audit" --user "$(id -u):$(id -g)" sitemapcrawler audit example.com
FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml setup.py MANIFEST.in README.md CHANGELOG.md SECURITY.md LICENSE ./
COPY sitemapcrawler sitemapcrawler
RUN python -m venv /opt/sitemapcrawler && /opt/sitemapcrawler/bin/pip install --no-cache-dir '.[parquet]'

FROM python:3.13-slim
COPY --from=build /opt/sitemapcrawler /opt/sitemapcrawler
RUN useradd --create-home --uid 1000 audit && install --directory --owner=audit --group=audit /audit
USER audit
WORKDIR /audit
ENTRYPOINT ["/opt/sitemapcrawler/bin/sitemapcrawler"]
CMD ["--help"]
