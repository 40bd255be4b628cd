# One image, two ways to its binary:
#
#   docker build --target host .   copies bin/ringleader, built by `make build`; needs no registry
#   docker build .                 builds it from the official Go image
#
# BuildKit builds only the stages that the target needs, the classic builder
# every one up to it. So "host" stands before the Go stage, which would ask a
# registry; the other way round, the classic builder wants bin/ringleader to be
# there although the release does not use it.

FROM scratch AS base
# A number: there is no /etc/passwd to look a name up in.
USER 65532:65532
ENV RINGLEADER_DATA_DIR=/data
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
    CMD ["ringleader", "health"]
ENTRYPOINT ["ringleader"]
CMD ["run"]

FROM base AS host
COPY bin/ringleader /usr/local/bin/
# An empty directory, three times: a volume takes its owner from it. The credentials are of docker-compose.yml.
COPY --chown=65532:65532 bin/data/ /data/
COPY --chown=65532:65532 bin/data/ /credentials/
COPY --chown=65532:65532 bin/data/ /credentials/authority/
VOLUME /data

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -tags urfave_cli_no_docs -o /out/ringleader ./cmd/node && mkdir /out/data

FROM base AS release
COPY --from=build /out/ringleader /usr/local/bin/
COPY --from=build --chown=65532:65532 /out/data/ /data/
COPY --from=build --chown=65532:65532 /out/data/ /credentials/
COPY --from=build --chown=65532:65532 /out/data/ /credentials/authority/
VOLUME /data
