/** Probes, dashboard and alerts of `deploy` against a server that has done some work. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type ServerProcess, startServer } from "../ServerProcess.ts"
import { readDeployFile, readDocumentedExpressions, readExpressions, readKubernetes } from "./Files.ts"
import { parsePromQl } from "./PromQl.ts"

const folder = mkdtempSync(join(tmpdir(), "weft-deploy-"))
let server: ServerProcess
beforeAll(async () => {
  server = await startServer(folder, { WEFT_SANDBOX_RUNNERS: "1" })
  await server.upload(
    "greetings",
    `export const hello = () => "hello"; hello.meta = { webhook: { service: "greetings", path: "/hello", method: "GET" } }`
  )
  await server.call("POST", "/v1/events", { event_type: "greeted", event_data: {} })
  await fetch(`${server.url}/nowhere`)
  await fetch(`${server.url}/webhook/default/production/greetings/hello`)
})
afterAll(async () => {
  await server.kill()
  rmSync(folder, { recursive: true, force: true })
})

/** Label names by metric, with `le` for histograms. */
const exposed = async (): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const metrics = new Map<string, Set<string>>()
  for (const [, name = ""] of text.matchAll(/^# TYPE (\S+)/gm)) metrics.set(name, new Set())
  for (const [, name = "", labels = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
    const known = metrics.get(name) ?? new Set()
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label)
    metrics.set(name, known)
  }
  return metrics
}

/** The series that Prometheus makes of its own scrapes. */
const ofScrapes = "up"
/** Labels that Prometheus adds to every series. */
const ofPrometheus = new Set(["job", "instance"])

describe("the probes", () => {
  it("of Kubernetes are answered", async () => {
    const { startupProbe, livenessProbe, readinessProbe } = readKubernetes().container
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      expect((await fetch(`${server.url}${httpGet.path}`)).status).toBe(200)
    }
  })

  it("of the image succeed with a server only", () => {
    const text = readDeployFile("Dockerfile").replaceAll("\\\n", " ")
    const [, json = "[]"] = /^HEALTHCHECK .*? CMD (\[.+\])$/m.exec(text) ?? []
    const [, ...flags]: ReadonlyArray<string> = JSON.parse(json)
    const probe = (port: string) =>
      spawnSync(process.execPath, flags, { env: { PATH: process.env.PATH, WEFT_PORT: port } }).status
    expect(probe(new URL(server.url).port)).toBe(0)
    expect(probe("1")).toBe(1)
  })
})

describe("the dashboard and the alerts", () => {
  it("name metrics and labels of the server only", async () => {
    await expect.poll(async () => (await exposed()).has("weft_runs_total"), { timeout: 10_000 }).toBe(true)
    const metrics = await exposed()
    const expressions = [...readExpressions(), ...readDocumentedExpressions()]
    expect(expressions.length).toBeGreaterThan(50)
    for (const [name, expression] of expressions) {
      const { selectors, groupings } = parsePromQl(expression)
      for (const { metric, labels: wanted } of selectors) {
        // Series between nodes exist with a cluster bus only; the table of docs/operating.md has them.
        if (metric === ofScrapes || metric.startsWith("weft_feed_")) continue
        const labels = metrics.get(metric) ?? metrics.get(metric.replace(/_bucket$/, ""))
        expect(labels, `${metric} of ${name}`).toBeDefined()
        // A counter without a value yet has no labels yet.
        if (labels === undefined || labels.size === 0) continue
        for (const label of [...wanted, ...groupings]) {
          expect(ofPrometheus.has(label) || labels.has(label), `${label} of ${metric}`).toBe(true)
        }
      }
    }
  })
})
