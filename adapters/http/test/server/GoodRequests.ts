/** One valid request for every endpoint with a permission, for the tests of permissions. */
import type { PermittedEndpoint } from "@weft/api"
import { Caller, ServiceKeys, Sessions } from "@weft/core"
import type { ApiKey } from "@weft/core/adapter"
import { fullPermissions, type NewServiceKey, type NewSession } from "@weft/core/internal"
import { Effect } from "effect"
import { waitingRun } from "./ApprovalRun.ts"
import { builds } from "./BuildRequests.ts"
import { fileRequests } from "./GoodFileRequests.ts"
import { type GoodRequest, get, type Made } from "./GoodRequest.ts"
import { previews } from "./PreviewRequests.ts"
import { repl } from "./ReplRequests.ts"
import type { TestServer } from "./TestServer.ts"

export const unknownId = "01890000-0000-7000-8000-000000000000"

/** Acts as an API key, without permission checks. */
export const actingAs = (server: TestServer, key: ApiKey) => {
  const identity = {
    env_id: key.env_id,
    type: "api-key",
    id: key.api_key_id,
    permissions: fullPermissions,
    metadata: null
  } as const
  const run = <A, E>(effect: Effect.Effect<A, E, Caller | Sessions | ServiceKeys>) =>
    server.weft.runtime.runPromise(Effect.provideService(effect, Caller, identity))
  return {
    session: (input: NewSession) => run(Sessions.use((sessions) => sessions.create(input))),
    serviceKey: (input: NewServiceKey) => run(ServiceKeys.use((keys) => keys.create(input)))
  }
}

const projects = (server: TestServer) =>
  ({
    "projects.list": get(() => "/v1/projects", "shop"),
    "projects.create": {
      method: "POST",
      path: () => "/v1/projects",
      options: () => ({ json: { name: "made" } }),
      before: () => server.call("DELETE", "/v1/projects/made"),
      exact: "made",
      status: 201
    },
    "projects.get": get(() => "/v1/projects/shop", "shop"),
    "projects.update": {
      method: "PATCH",
      path: () => "/v1/projects/shop",
      options: () => ({ json: { name: "shop" } }),
      exact: "shop",
      status: 200
    },
    "projects.remove": {
      method: "DELETE",
      path: () => "/v1/projects/gone",
      before: () => server.call("POST", "/v1/projects", { json: { name: "gone" } }),
      exact: "gone",
      status: 204
    }
  }) satisfies Partial<Record<PermittedEndpoint, GoodRequest>>

const schedules = (server: TestServer) => {
  let schedule = unknownId
  const before = async () => {
    const event_data = { fn: "shop:main/plain", schedule: "P1D" }
    const made = await server.call("POST", "/v1/events", { json: { event_type: "svc:schedule:new", event_data } })
    schedule = made.json.data.event_id
  }
  return {
    "schedules.list": get(() => "/v1/schedules", "shop"),
    "schedules.upcoming": get(() => "/v1/schedules/ticks", "shop"),
    "schedules.remove": {
      method: "DELETE",
      path: () => `/v1/schedules/${schedule}`,
      before,
      exact: "shop",
      status: 204
    }
  } satisfies Partial<Record<PermittedEndpoint, GoodRequest>>
}

const context = (server: TestServer) => {
  const path = "/v1/projects/shop/context"
  const put = () => server.call("POST", path, { json: { key: "GONE", value: "x" } })
  return {
    "context.list": get(() => path, "shop"),
    "context.create": {
      method: "POST",
      path: () => path,
      options: () => ({ json: { key: "MADE", value: "x" } }),
      before: () => server.call("DELETE", `${path}/MADE`),
      exact: "shop",
      status: 201
    },
    "context.update": {
      method: "PUT",
      path: () => `${path}/GONE`,
      options: () => ({ json: { value: "y" } }),
      before: put,
      exact: "shop",
      status: 200
    },
    "context.remove": { method: "DELETE", path: () => `${path}/GONE`, before: put, exact: "shop", status: 204 }
  } satisfies Partial<Record<PermittedEndpoint, GoodRequest>>
}

const running = ({ event, run }: Made) =>
  ({
    "events.publish": {
      method: "POST",
      path: () => "/v1/events",
      options: () => ({ json: { event_type: "order:created", event_data: { total: 1 } } }),
      exact: "order:created",
      status: 201
    },
    "events.list": get(() => "/v1/events", "order:created"),
    "events.get": get(() => `/v1/events/${event}`, "order:created"),
    "events.runs": get(() => `/v1/events/${event}/runs`, "shop"),
    "runs.list": get(() => "/v1/runs", "shop"),
    "runs.stats": get(() => "/v1/runs/stats", "shop"),
    "runs.activity": get(() => "/v1/runs/activity?time_range=PT1H", "shop"),
    "runs.series": get(() => "/v1/runs/series?project=shop&step=5m", "shop"),
    "runs.get": get(() => `/v1/runs/${run}`, "shop"),
    "runs.logs": get(() => `/v1/runs/${run}/logs`, "shop"),
    "runs.steps": get(() => `/v1/runs/${run}/steps`, "shop"),
    "runs.usage": get(() => `/v1/runs/${run}/usage`, "shop"),
    "recordings.list": get(() => "/v1/recordings", "shop"),
    // The function of the run declares no recording.
    "recordings.get": get(() => `/v1/runs/${run}/recording`, "shop", 404),
    "env.get": get(() => "/v1/env", "*"),
    "env.usage": get(() => "/v1/org/usage", "*")
  }) satisfies Partial<Record<PermittedEndpoint, GoodRequest>>

/** Pauses of a function that does not exist, so that the other requests run. */
const pauses = (server: TestServer) => {
  const json = { project: "shop", fn: "main/none" }
  let pause = unknownId
  const before = async () => {
    pause = (await server.call("POST", "/v1/pauses", { json })).json.data.pause_id
  }
  const path = () => `/v1/pauses/${pause}`
  return {
    "pauses.list": get(() => "/v1/pauses", "shop"),
    "pauses.create": {
      method: "POST",
      path: () => "/v1/pauses",
      options: () => ({ json }),
      exact: "shop",
      status: 201
    },
    "pauses.get": { ...get(path, "shop"), before },
    "pauses.remove": { method: "DELETE", path, before, exact: "shop", status: 204 }
  } satisfies Partial<Record<PermittedEndpoint, GoodRequest>>
}

/** The canary of a project without one. */
const canaries = {
  "canaries.get": get(() => "/v1/projects/shop/canary", "shop", 404),
  "canaries.promote": { method: "POST", path: () => "/v1/projects/shop/canary/promote", exact: "shop", status: 404 },
  "canaries.rollback": { method: "POST", path: () => "/v1/projects/shop/canary/rollback", exact: "shop", status: 404 }
} satisfies Partial<Record<PermittedEndpoint, GoodRequest>>

/** Operations with a low rate, so that they have not ended when they are cancelled. */
const operations = (server: TestServer) => {
  const fn = "main/onOrder"
  const json = { kind: "replay", filter: { status: "succeeded", fn }, options: { rate: 1 } }
  let operation = unknownId
  const before = async () => {
    operation = (await server.call("POST", "/v1/operations", { json })).json.data.operation_id
  }
  const path = () => `/v1/operations/${operation}`
  return {
    "operations.list": get(() => "/v1/operations", fn),
    "operations.create": {
      method: "POST",
      path: () => "/v1/operations",
      options: () => ({ json: { ...json, dry_run: true } }),
      exact: fn,
      status: 200
    },
    "operations.get": { ...get(path, fn), before },
    "operations.cancel": { method: "POST", path: () => `${path()}/cancel`, before, exact: fn, status: 200 }
  } satisfies Partial<Record<PermittedEndpoint, GoodRequest>>
}

/** Rules that never fire. */
const alerts = (server: TestServer) => {
  const json = {
    ...{ name: "quiet", project: "shop", condition: { type: "silence", minutes: 60 } },
    actions: [{ type: "event" }]
  }
  let alert = unknownId
  const before = async () => {
    alert = (await server.call("POST", "/v1/alerts", { json })).json.data.alert_id
  }
  const path = () => `/v1/alerts/${alert}`
  return {
    "alerts.list": get(() => "/v1/alerts", "shop"),
    "alerts.create": {
      method: "POST",
      path: () => "/v1/alerts",
      options: () => ({ json }),
      exact: "shop",
      status: 201
    },
    "alerts.get": { ...get(path, "shop"), before },
    "alerts.update": {
      method: "PATCH",
      path,
      options: () => ({ json: { enabled: false } }),
      before,
      exact: "shop",
      status: 200
    },
    "alerts.test": { method: "POST", path: () => `${path()}/test`, before, exact: "shop", status: 200 },
    "alerts.remove": { method: "DELETE", path, before, exact: "shop", status: 204 }
  } satisfies Partial<Record<PermittedEndpoint, GoodRequest>>
}

const streams = ({ stream }: Made) =>
  ({
    "streams.subscribeEnv": get(() => "/v1/env/subscribe", "*"),
    "streams.subscribe": get(() => `/v1/streams/${stream}/subscribe`, stream),
    "streams.subscribeWithEvent": {
      method: "POST",
      path: () => "/v1/streams/subscribe-with-event",
      options: () => ({ json: { event_type: "order:created", event_data: { total: 1 }, stream_id: stream } }),
      besides: { "event:order:created": ["create"] },
      exact: stream,
      status: 200
    }
  }) satisfies Partial<Record<PermittedEndpoint, GoodRequest>>

const calls = (server: TestServer, { run }: Made) => {
  let hanging = unknownId
  let sleeping = unknownId
  let waiting = unknownId
  const fn = "main/hang"
  /** Starts a run that continues, and ends the previous one. */
  const hang = async () => {
    await server.call("POST", "/v1/runs/cancel?type=call")
    hanging = (await server.call("POST", "/v1/calls", { json: { fn } })).json.data.run_id
  }
  /** Starts a durable run that sleeps. */
  const nap = async () => {
    const { event_id } = (await server.call("POST", "/v1/events", { json: { event_type: "nap", event_data: null } }))
      .json.data
    for (let waiting = null; waiting === null; ) {
      const [run] = (await server.call("GET", `/v1/events/${event_id}/runs`)).json.data
      sleeping = run?.run_id ?? sleeping
      waiting = run?.waiting ?? null
    }
  }
  return {
    "calls.call": {
      method: "POST",
      path: () => "/v1/calls",
      options: () => ({ json: { fn: "main/plain", args: [1], wait: 5 } }),
      exact: "main/plain",
      status: 201
    },
    "eval.run": {
      method: "POST",
      path: () => "/v1/eval",
      options: () => ({ json: { source: "args[0] + 1", args: [1] } }),
      exact: "*",
      status: 200
    },
    "runs.cancel": { method: "POST", path: () => `/v1/runs/${hanging}/cancel`, before: hang, exact: fn, status: 200 },
    "runs.cancelAll": { method: "POST", path: () => "/v1/runs/cancel", before: hang, exact: fn, status: 200 },
    "deliveries.cancel": { method: "POST", path: () => "/v1/deliveries/cancel", exact: fn, status: 200 },
    "deliveries.list": { method: "GET", path: () => "/v1/deliveries", exact: "shop", status: 200 },
    "deliveries.why": { method: "GET", path: () => `/v1/waiting/${run}`, exact: "shop", status: 200 },
    "deadLetters.list": { method: "GET", path: () => "/v1/dead-letters", exact: "shop", status: 200 },
    "deadLetters.redrive": {
      method: "POST",
      path: () => "/v1/dead-letters/redrive",
      options: () => ({ json: { fn, dry_run: true } }),
      exact: fn,
      status: 200
    },
    "deadLetters.discard": {
      method: "POST",
      path: () => "/v1/dead-letters/discard",
      options: () => ({ json: { fn } }),
      exact: fn,
      status: 200
    },
    "runs.wake": {
      method: "POST",
      path: () => `/v1/runs/${sleeping}/wake`,
      before: nap,
      exact: "main/onNap",
      status: 200
    },
    "runs.completeToken": {
      method: "POST",
      path: () => `/v1/runs/${waiting}/tokens/${encodeURIComponent("<approval> & co")}`,
      options: () => ({ json: { data: 1 } }),
      before: async () => {
        waiting = (await waitingRun(server)).run_id
      },
      exact: "main/approval",
      status: 200
    },
    "runs.replay": {
      method: "POST",
      path: () => `/v1/runs/${run}/replay`,
      exact: "main/onOrder",
      status: 201
    }
  } satisfies Partial<Record<PermittedEndpoint, GoodRequest>>
}

const access = (server: TestServer) => {
  let session = unknownId
  let serviceKey = unknownId
  const newSession = async (key: ApiKey) => {
    session = (await actingAs(server, key).session({ permissions: {} })).session.session_id
  }
  const newServiceKey = async (key: ApiKey) => {
    serviceKey = (await actingAs(server, key).serviceKey({ permissions: {} })).key.service_key_id
  }
  const create = (path: string): GoodRequest => ({
    method: "POST",
    path: () => path,
    options: () => ({ json: { permissions: {} } }),
    exact: "*",
    status: 201
  })
  const remove = (path: () => string, before: (key: ApiKey) => Promise<unknown>, status = 204): GoodRequest => ({
    method: "DELETE",
    path,
    before,
    exact: "*",
    status
  })
  return {
    "sessions.create": create("/v1/sessions"),
    "sessions.list": get(() => "/v1/sessions", "*"),
    "sessions.revoke": remove(() => `/v1/sessions/${session}`, newSession),
    "sessions.revokeAll": remove(() => "/v1/sessions", newSession, 200),
    "serviceKeys.create": create("/v1/service-keys"),
    "serviceKeys.list": get(() => "/v1/service-keys", "*"),
    "serviceKeys.get": { ...get(() => `/v1/service-keys/${serviceKey}`, "*"), before: newServiceKey },
    "serviceKeys.revoke": remove(() => `/v1/service-keys/${serviceKey}`, newServiceKey),
    "serviceKeys.revokeAll": remove(() => "/v1/service-keys", newServiceKey, 200)
  } satisfies Partial<Record<PermittedEndpoint, GoodRequest>>
}

const domains = (server: TestServer) => {
  let count = 0
  let domain = unknownId
  const fresh = () => ({ domain: `d${count++}.example.com` })
  const before = async () => {
    domain = (await server.weft.env(server.env.env_id).domains.add(fresh())).domain_id
  }
  const path = () => `/v1/domains/${domain}`
  return {
    "domains.list": get(() => "/v1/domains", "*"),
    "domains.add": {
      method: "POST",
      path: () => "/v1/domains",
      options: () => ({ json: fresh() }),
      exact: "*",
      status: 201
    },
    "domains.get": { ...get(path, "*"), before },
    "domains.verify": { method: "POST", path: () => `${path()}/verify`, before, exact: "*", status: 200 },
    "domains.remove": { method: "DELETE", path, before, exact: "*", status: 204 }
  } satisfies Partial<Record<PermittedEndpoint, GoodRequest>>
}

/** A request for every endpoint with a permission: a new endpoint without a request does not compile. */
export const goodRequests = (server: TestServer, made: Made): Readonly<Record<PermittedEndpoint, GoodRequest>> => ({
  ...projects(server),
  ...builds(server, made),
  ...repl(server),
  ...schedules(server),
  ...context(server),
  ...running(made),
  ...calls(server, made),
  ...pauses(server),
  ...canaries,
  ...previews(server, made),
  ...operations(server),
  ...alerts(server),
  ...streams(made),
  ...fileRequests(server),
  ...access(server),
  ...domains(server),
  "audit.list": get(() => "/v1/audit", "*")
})
