/**
 * No credential reaches resources of another environment or organization, nor those of another project by way of its own
 * project. The requests derive from the OpenAPI document, so new endpoints are included automatically.
 */
import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { beforeAll } from "vitest"
import { onBackendOfRun } from "./conformance/Backends.ts"
import { createResources, type Tenant } from "./isolation/Tenant.ts"
import { type Operation, operations } from "./openapi/Operations.ts"
import { modules } from "./server/functions.ts"
import { type CallOptions, uploadForm } from "./server/TestServer.ts"

interface Route {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly parameters: ReadonlyArray<string>
  readonly operation: Operation
}

const isTenants = ({ security = [] }: Operation): boolean =>
  security.length === 1 && security.some((scheme) => "bearer" in scheme)

const routes: ReadonlyArray<Route> = operations
  // mcp.test.ts covers the isolation of tools.
  .filter(([name, operation]) => isTenants(operation) && !name.includes("/mcp/"))
  .map(([name, operation]) => {
    const [method = "", path = ""] = name.split(" ")
    return { name, method, path, operation, parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, id = ""]) => id) }
  })

/** Paths of files are names within an environment, so the same path may exist in others. */
const isOwnPath = ({ name }: Route): boolean => name === "PUT /v1/files/upload/{path}"

const isStream = ({ responses }: Operation): boolean => "text/event-stream" in (responses["200"]?.content ?? {})

/** Returns a valid body, so that the owner of the resource is the only error. */
const bodyOf = ({ requestBody }: Operation): CallOptions => {
  const [[type, media] = ["", {}]] = Object.entries(requestBody?.content ?? {})
  if (type === "") return {}
  if (type.includes("form-data")) return { body: uploadForm("other") }
  return type.includes("json")
    ? { json: media.example }
    : { body: "bytes", headers: { "content-type": "application/octet-stream" } }
}

const fill = (path: string, valueOf: (parameter: string) => string | undefined): string =>
  path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    const value = valueOf(parameter)
    if (value === undefined) throw new Error(`Tenants have no {${parameter}} yet: add one in isolation/Tenant.ts`)
    return encodeURIComponent(value)
  })

/** Returns the data of a response without the time range of activities and series, which ends now. */
const withoutTimeRange = (data: unknown): unknown => {
  if (typeof data !== "object" || data === null) return data
  const ends = "since" in data ? { since: null } : "series" in data ? { from: null, to: null } : {}
  return { ...data, ...ends }
}

onBackendOfRun({ modules }, ({ server }) => {
  let own: Tenant
  let sibling: Tenant
  const otherTenants = new Map<string, Tenant>()

  beforeAll(async () => {
    own = await createResources(server(), server().token, "own")
    sibling = await createResources(server(), server().token, "sibling")
    const staging = await server().weft.envs.create("acme", { name: "staging" })
    const rival = await server().weft.orgs.create({ slug: "rival" })
    const prod = await server().weft.envs.create(rival.org_id, { name: "prod" })
    for (const [name, { env_id }] of [
      ["another environment", staging],
      ["another organization", prod]
    ] as const) {
      const { token } = await server().weft.apiKeys.create(env_id, {})
      otherTenants.set(name, await createResources(server(), Redacted.value(token), `theirs-${env_id}`))
    }
  }, 60_000)

  const tenant = (name: string): Tenant => {
    const found = otherTenants.get(name)
    if (found === undefined) throw new Error(`There is no ${name}`)
    return found
  }

  /** Reads everything that a tenant can see of its environment. */
  const view = async ({ token, ids }: Tenant): Promise<ReadonlyArray<readonly [string, unknown]>> => {
    const seen: Array<readonly [string, unknown]> = []
    for (const { name, method, path, operation } of routes) {
      // The usage of an organization includes all its environments.
      if (method !== "GET" || path.startsWith("/v1/org/") || isStream(operation)) continue
      // A read of a recording adds an entry to the audit log, which is a part of the view.
      if (path.endsWith("/recording")) continue
      const { status, json, text } = await server().call(
        "GET",
        fill(path, (id) => ids.get(id)),
        { token }
      )
      const data = json?.data ?? text
      seen.push([name, status === 200 ? withoutTimeRange(data) : status])
    }
    return seen
  }

  const check404 = async ({ name, method, path, operation }: Route, valueOf: (id: string) => string | undefined) => {
    const reply = await server().call(method, fill(path, valueOf), bodyOf(operation))
    assert.strictEqual(reply.status, 404, `${name} ${reply.text}`)
    assert.strictEqual(reply.json.error.code, "not_found", name)
  }

  for (const name of ["another environment", "another organization"]) {
    describe(name, () => {
      for (const route of routes.filter((one) => one.parameters.length > 0 && !isOwnPath(one))) {
        it(`${route.name} is 404 with ids of ${name}`, async () => {
          const theirs = tenant(name)
          await check404(route, (id) => theirs.ids.get(id))
          if (route.parameters.length === 1 || route.parameters[0] !== "project_id_or_slug") return
          await check404(route, (id) => (id === "project_id_or_slug" ? own : theirs).ids.get(id))
        })
      }

      it(`a tenant's own lists contain nothing of ${name}`, async () => {
        const theirs = [...tenant(name).ids].flatMap(([id, value]) => (id === "part_number" ? [] : [value]))
        for (const { name: route, method, path, parameters } of routes) {
          if (method !== "GET" || parameters.length > 0) continue
          const { text } = await server().call("GET", path)
          for (const id of theirs) assert.notInclude(text, id, route)
        }
      })

      it(`no request of a tenant changes what ${name} sees`, async () => {
        const theirs = tenant(name)
        const before = await view(theirs)
        for (const route of routes) {
          const { method, path, operation } = route
          if (method === "GET" || route.parameters.includes("project_id_or_slug")) continue
          await server().call(
            method,
            fill(path, (id) => theirs.ids.get(id)),
            bodyOf(operation)
          )
        }
        const json = { event_type: "order:created", event_data: { total: 2 }, stream_id: theirs.ids.get("stream_id") }
        assert.strictEqual((await server().call("POST", "/v1/events", { json })).status, 201)
        const build_id = theirs.ids.get("build_id") ?? ""
        assert.strictEqual((await server().upload("own", "other", { build_id })).status, 400)
        assert.deepStrictEqual(await view(theirs), before)
      })
    })
  }

  describe("a second project of the environment", () => {
    for (const route of routes.filter(({ path }) => /\{project_id_or_slug\}.*\{/.test(path))) {
      it(`${route.name} is 404 with the id of another project's resource`, () =>
        check404(route, (id) => (id === "project_id_or_slug" ? own : sibling).ids.get(id)))
    }
  })
})
