/** Files of `weft init`: a short project that runs. */
import manifest from "../../../package.json" with { type: "json" }

/** Returns contents by path. `name` is the name of the project, of the webhooks' service, and of the package. */
export const renderTemplate = (name: string): Readonly<Record<string, string>> => ({
  "package.json": json({
    name,
    private: true,
    type: "module",
    scripts: { dev: "weft dev", deploy: "weft deploy", test: "vitest run", check: "tsc" },
    dependencies: { "@weft/sdk": manifest.version, zod: "^4.6.7" },
    devDependencies: { typescript: "^7.0.2", vitest: "^5.1.1", weft: manifest.version },
    // npm runs install scripts only of packages that are allowed here.
    allowScripts: { esbuild: true, "isolated-vm": true }
  }),
  "weft.json": json({ project: name, entry: "src/index.ts" }),
  "tsconfig.json": json({
    compilerOptions: {
      target: "es2024",
      module: "preserve",
      lib: ["es2024", "dom"],
      types: [],
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true
    },
    include: ["src", "test"]
  }),
  "src/index.ts": index(name),
  "test/index.test.ts": test,
  ".gitignore": "node_modules\ndist\n.weft\n"
})

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const index = (name: string): string => `import { handler, schedule, webhook } from "@weft/sdk"
import * as z from "zod"

const Guest = z.object({ name: z.string().default("you") })

// Responds to GET …/${name}/hello?name=Ada after the event is stored.
export const hello = webhook({ service: "${name}", path: "/hello", method: "GET", query: Guest }, async (request, svc) => {
  await svc.events.publish({ type: "guest:greeted", data: request.query })
  return { status: 200, body: { greeting: \`Hello, \${request.query.name}!\` } }
})

// Runs for each such event, and retries twice after a failure.
export const onGreeted = handler(
  { event: "guest:greeted", data: Guest, retry: { attempts: 3, delay: "1s" } },
  async (event, svc) => {
    svc.log.info(\`greeted \${event.event_data.name}\`)
  }
)

// Runs at the start of each hour.
export const hourly = schedule("0 * * * *", async (tick, svc) => {
  svc.log.info("another hour", { due: tick.scheduled_time })
})
`

const test = `import { testEnv } from "@weft/sdk/testing"
import { expect, it } from "vitest"
import * as project from "../src/index.ts"

it("greets the guest and publishes an event", async () => {
  const { response, published } = await testEnv().request(project.hello, { query: { name: "Ada" } })
  expect(await response.json()).toEqual({ greeting: "Hello, Ada!" })
  expect(published).toEqual([{ type: "guest:greeted", data: { name: "Ada" } }])
})
`
