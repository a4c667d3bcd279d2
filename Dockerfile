# Targets: api, worker and migrate. All three hold the same files; what they run differs.
# Give it with a digest (--build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:…) to build the same image again.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS base
WORKDIR /app
RUN npm install --global pnpm@12.21.0
COPY package.json pnpm-lock.yaml pnpm-workspace.yaml ./
COPY patches patches
COPY packages/shared/package.json packages/shared/
COPY packages/runtime/package.json packages/runtime/
COPY packages/local-servers/package.json packages/local-servers/
COPY packages/test-kit/package.json packages/test-kit/
COPY packages/db/package.json packages/db/
COPY packages/queue/package.json packages/queue/
COPY packages/media-store/package.json packages/media-store/
COPY packages/simulator/package.json packages/simulator/
COPY apps/api/package.json apps/api/
COPY apps/worker/package.json apps/worker/
COPY devnet/package.json devnet/
COPY system-tests/package.json system-tests/
COPY faults/package.json faults/
COPY mutants/package.json mutants/
COPY bench/package.json bench/
COPY examples/answer-messages/package.json examples/answer-messages/

FROM base AS build
RUN pnpm install --frozen-lockfile --filter wagate --filter "@wagate/api..." --filter "@wagate/worker..." --filter @wagate/simulator
COPY . .
RUN pnpm build

FROM base AS dependencies
RUN pnpm install --frozen-lockfile --prod --filter "@wagate/api..." --filter "@wagate/worker..."

FROM ${NODE_IMAGE} AS runtime
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app ./
COPY --from=build /app/packages/shared/dist packages/shared/dist
COPY --from=build /app/packages/runtime/dist packages/runtime/dist
COPY --from=build /app/packages/queue/dist packages/queue/dist
COPY --from=build /app/packages/media-store/dist packages/media-store/dist
COPY --from=build /app/packages/db/dist packages/db/dist
COPY --from=build /app/packages/db/migrations packages/db/migrations
COPY --from=build /app/apps/api/dist apps/api/dist
COPY --from=build /app/apps/api/page apps/api/page
COPY --from=build /app/apps/worker/dist apps/worker/dist
COPY scripts/env-file.mjs scripts/load-compiled.mjs scripts/migrate.mjs scripts/roles.mjs scripts/healthcheck.mjs scripts/
# A volume that is mounted here gets this owner.
RUN mkdir -p -m 700 /var/lib/wagate/media && chown node:node /var/lib/wagate/media
USER node

FROM runtime AS migrate
CMD ["node", "scripts/migrate.mjs"]

FROM runtime AS worker
ENV METRICS_HOST=0.0.0.0 METRICS_PORT=9090
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "scripts/healthcheck.mjs", "9090"]
# One thread for garbage, not four: with large media in hand they would take all cores from the other processes.
# Objects become old after 16 MB, as in Node 20: later versions reserve up to 64. Garbage is collected at rest too.
# A full collection starts when the heap has doubled, and marks while objects are allocated (docs/decisions/0045).
CMD ["node", "--v8-pool-size=1", "--max-semi-space-size=16", "--heap-growing-percent=100", "--no-incremental-marking-task", "--expose-gc", "--import", "./apps/worker/dist/preload.js", "apps/worker/dist/main.js"]

FROM runtime AS api
ENV PORT=3000 METRICS_HOST=0.0.0.0 METRICS_PORT=9090
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "scripts/healthcheck.mjs", "3000"]
# What one request leaves is garbage soon: looked through half as often, a request takes a tenth less CPU.
CMD ["node", "--max-semi-space-size=32", "--expose-gc", "apps/api/dist/main.js"]
