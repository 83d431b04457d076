# The gateway, with what it needs to run and nothing else. An access mode has to be named: it listens for everyone.
#   docker build --tag seisgraph .
#   docker run --publish 4000:4000 --env AUTH_MODE=token --env GATEWAY_TOKENS=… seisgraph

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY examples/dashboard ./examples/dashboard
RUN npm run build
# The .npmrc includes them, which would win over --omit.
RUN npm prune --omit=dev --include=prod

FROM node:24-slim
WORKDIR /app
COPY package.json ./
COPY schema/operations ./schema/operations
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
ENV NODE_ENV=production
ENV HOST=0.0.0.0
ENV PORT=4000
EXPOSE 4000
# The files belong to root: the gateway can read them, and write nothing anywhere.
USER node
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# As process 1 node gets SIGTERM itself: the gateway then finishes what is in flight, in 10 seconds at most.
ENTRYPOINT ["node", "--max-semi-space-size=4", "dist/main.js"]
