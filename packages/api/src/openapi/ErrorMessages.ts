/** Messages of the server for all error codes, which the examples of errors show. */
import {
  BadRequest,
  Busy,
  CanaryActive,
  DeploymentRefused,
  DomainExists,
  DomainLimitReached,
  Forbidden,
  NotFound,
  Paused,
  PermissionEscalation,
  PlanRequired,
  RateLimited,
  SessionLimitExceeded,
  TokenCompleted,
  TokenExpired,
  Unauthorized
} from "@weft/core"
import { internalMessage } from "../errors/Catalogue.ts"

const errors = [
  new Unauthorized({}),
  new Forbidden({ permission: "event:order:created create" }),
  new PermissionEscalation({ permission: "build:* create" }),
  new PlanRequired({ reason: "Custom domains need the plan Pro or Scale" }),
  new DomainLimitReached({ limit: 5 }),
  new NotFound({ resource: "project" }),
  new BadRequest({ reason: "name: is missing" }),
  new DomainExists({}),
  new TokenCompleted({ completed_at: "2026-01-31T12:00:00.000Z" }),
  new TokenExpired({ reason: "The token expired at 2026-01-31T12:00:00.000Z" }),
  new Busy({ reason: "The session evaluates another input: wait for its end" }),
  new SessionLimitExceeded({ limit: 1000 }),
  new RateLimited({ retryAfterSeconds: 1 }),
  new DeploymentRefused({ reason: "The new host api.example.com needs an approval" }),
  new CanaryActive({
    reason:
      "The build 01970d3c-9d10-7b26-8f4c-1e5a3d9b2c47 has been a canary of the project since 2026-01-31T12:00:00.000Z: promote it, roll it back, or send replace"
  }),
  new Paused({
    reason: "The project orders has been paused since 2026-01-31T12:00:00.000Z: call again when it is resumed"
  })
]

export const errorMessages: ReadonlyMap<string, string> = new Map([
  ...errors.map(({ code, message }) => [code, message] as const),
  ["internal_server_error", internalMessage]
])
