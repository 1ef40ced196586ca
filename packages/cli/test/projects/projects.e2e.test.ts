/** The commands of a project from `init` to `rollback`, also that of `docs/incidents.md`. */
import { execFile } from "node:child_process"
import { existsSync, statSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type RunningCommand, Terminal } from "./Terminal.ts"

const terminal = new Terminal()
const packages = ["@weft/sdk", "zod", "vitest"]
const sources = "shop/src/index.ts"
/** Sources as `weft init` wrote them. */
let pristine: string

beforeAll(async () => {
  const made = await terminal.run(".", ["init", "shop"])
  assert.strictEqual(made.code, 0, made.stderr)
  assert.include(made.stdout, "  cd shop\n  npm install\n  npx weft dev\n")
  terminal.install("shop", packages)
  pristine = terminal.read(sources)
})

afterAll(() => terminal[Symbol.dispose]())

/** Finds the URL of the webhook in the output of a command. */
const webhookIn = (said: string): string => /http:\S+\/hello/.exec(said)?.[0] ?? assert.fail(`no webhook in: ${said}`)

const greetingOf = async (url: string): Promise<string> => {
  const response = await fetch(`${url}?name=Ada`)
  const body = (await response.json()) as { readonly greeting?: string }
  return body.greeting ?? `${response.status}`
}

describe("weft init", () => {
  it("creates a project whose test passes and whose types are correct", async () => {
    const bin = (name: string, file: string) => {
      const { resolve } = createRequire(import.meta.url)
      return join(resolve(`${name}/package.json`), "..", file)
    }
    const condition = `resolve: { conditions: ["weft-source"] }, ssr: { resolve: { conditions: ["weft-source"] } }`
    terminal.write("shop/vitest.config.ts", `export default { ${condition} }\n`)
    const run = promisify(execFile)
    const cwd = join(terminal.home, "shop")
    const node = [process.execPath, "--conditions=weft-source"] as const
    const tests = await run(node[0], [node[1], bin("vitest", "vitest.mjs"), "run"], { cwd })
    assert.match(tests.stdout, /1 passed/)
    // This workspace resolves the test kit to its sources, which need the types of Node.js.
    const types = ["--types", "node", "--typeRoots", bin("@types/node", "..")]
    await run(process.execPath, [bin("typescript", "bin/tsc"), "--customConditions", "weft-source", ...types], { cwd })
  })

  it("overwrites nothing", async () => {
    const before = terminal.read("shop/package.json")
    const again = await terminal.run(".", ["init", "shop"])
    assert.strictEqual(again.code, 1)
    assert.match(again.stderr, /^error .*shop already contains package\.json; nothing was written\nhint {2}/)
    assert.strictEqual(terminal.read("shop/package.json"), before)
    terminal.write("half/src/index.ts", "mine")
    assert.strictEqual((await terminal.run("half", ["init"])).code, 1)
    assert.isFalse(existsSync(join(terminal.home, "half/package.json")))
  })

  it("rejects names that are not valid package names", async () => {
    const refused = await terminal.run(".", ["init", "My Shop"])
    assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
    assert.include(refused.stderr, '"My Shop" is not a valid project name')
  })
})

describe("weft dev", () => {
  let dev: RunningCommand
  let url: string

  beforeAll(async () => {
    dev = terminal.begin("shop", ["dev"])
    url = webhookIn(await dev.waitFor("main/hourly  next at"))
  }, 300_000)

  /** Saves a change. `live` resolves when the command reports the live build. */
  const save = (from: string, to: string) => {
    const before = dev.output().split("live in").length - 1
    terminal.edit(sources, from, to)
    return { started: performance.now(), live: dev.waitFor("live in", before + 1) }
  }

  it("starts a local server if none is running, and prints the entry points", async () => {
    assert.match(
      dev.output(),
      /^shop on http:\/\/127\.0\.0\.1:\d+, a local server with its data in \.weft\nlive in \d+ ms/
    )
    assert.match(
      dev.output(),
      / webhook {3}GET \/shop\/hello → main\/hello {2}http:\/\/127\.0\.0\.1:\d+\/webhook\/default\/development\/shop\/hello\n/
    )
    assert.include(dev.output(), " handler   guest:greeted → main/onGreeted\n")
    assert.match(
      dev.output(),
      / schedule {2}0 \* \* \* \* \(UTC\) → main\/hourly {2}next at \d{4}-\d\d-\d\d \d\d:00:00\n/
    )
    assert.strictEqual(await greetingOf(url), "Hello, Ada!")
  })

  it("prints the runs of this first call and their logs with the function", async () => {
    await dev.waitFor(/main\/hello succeeded in .* ms/)
    await dev.waitFor(/main\/onGreeted info {2}greeted Ada\n/)
    await dev.waitFor(/main\/onGreeted succeeded in .* ms/)
  })

  it("makes each save live", async () => {
    const waits: Array<number> = []
    for (const [from, to] of [
      ["Hello,", "Hi,"],
      ["Hi,", "Good day,"],
      ["Good day,", "Hello,"]
    ] as const) {
      const { started, live } = save(from, to)
      await live
      waits.push(performance.now() - started)
      assert.strictEqual(await greetingOf(url), `${to} Ada!`)
    }
    console.log(`save → live: ${waits.map(Math.round).join(", ")} ms`)
  })

  it("prints the changes of a save", async () => {
    terminal.edit(sources, '"0 * * * *"', '{ cron: "30 * * * *", timezone: "Europe/Oslo" }')
    await dev.waitFor("+ schedule  30 * * * * (Europe/Oslo) → main/hourly")
    await dev.waitFor("- schedule  0 * * * * (UTC) → main/hourly")
    terminal.edit(sources, '{ cron: "30 * * * *", timezone: "Europe/Oslo" }', '"0 * * * *"')
    await dev.waitFor("- schedule  30 * * * * (Europe/Oslo) → main/hourly")
  })

  it("reports the location of a syntax error and keeps the last build live", async () => {
    terminal.edit(sources, "return { status: 200", "return return { status: 200")
    await dev.waitFor(/error The project does not build\n {2}src\/index\.ts:9:\d+ .*\n {4}return return/)
    assert.strictEqual(await greetingOf(url), "Hello, Ada!")
    terminal.edit(sources, "return return", "return")
  })

  it("reports the location of metadata that the server rejects", async () => {
    terminal.edit(sources, '"0 * * * *"', '"every hour"')
    await dev.waitFor(/error .*main\/hourly.*schedule.*\n {2}src\/index\.ts:\d+:14\n/)
    assert.strictEqual(await greetingOf(url), "Hello, Ada!")
    terminal.edit(sources, '"every hour"', '"0 * * * *"')
  })

  it("prints the source location of a failed run", async () => {
    await save("await svc.events.publish", 'throw new TypeError("no guests")\n  await svc.events.publish').live
    assert.strictEqual(await greetingOf(url), "500")
    await dev.waitFor(/main\/hello failed in .*\n {2}TypeError: no guests\n(.*\n)*? {4}at src\/index\.ts:8:9/)
    await save('throw new TypeError("no guests")\n  ', "").live
  })

  it("ends the live build and the server after Ctrl-C", async () => {
    const { code, stderr } = await dev.interrupt()
    assert.strictEqual(code, 0)
    assert.include(stderr, "The live build has ended: the deployed build is active again")
    assert.strictEqual(await fetch(url).catch(() => "gone"), "gone")
  })
})

describe("weft deploy", () => {
  let server: RunningCommand
  let url: string

  beforeAll(async () => {
    terminal.write(sources, pristine)
    server = terminal.begin("shop", ["server", "--port", "0"])
    await server.waitFor("weft listening on http://127.0.0.1:")
  }, 300_000)

  it("stores the local server's keys in a file that only its owner can read", async () => {
    assert.strictEqual(statSync(terminal.configFile).mode & 0o777, 0o600)
    assert.strictEqual(statSync(join(terminal.configFile, "..")).mode & 0o777, 0o700)
    assert.notInclude(server.output(), "svc_")
  })

  it("shows the changes without deploying with --dry-run", async () => {
    const tried = await terminal.run("shop", ["deploy", "--dry-run", "--json"])
    const facts = JSON.parse(tried.stdout)
    assert.deepInclude(facts, { deployed: false, project: "shop" })
    assert.deepStrictEqual(
      facts.changes.map(({ change, kind, fn }: Record<string, string>) => [change, kind, fn]),
      [
        ["added", "webhook", "main/hello"],
        ["added", "handler", "main/onGreeted"],
        ["added", "schedule", "main/hourly"]
      ]
    )
    const loadPages = JSON.parse((await terminal.run("shop", ["rollback", "--json"])).stderr)
    assert.strictEqual(loadPages.error.code, "no_former_build")
  })

  it("deploys and prints the URLs of webhooks", async () => {
    const { code, stdout, stderr } = await terminal.run("shop", ["deploy"])
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, "+ webhook   GET /shop/hello → main/hello\n")
    assert.match(stdout, /^deployed [0-9a-f-]{36}\n/)
    url = webhookIn(stdout)
    assert.strictEqual(await greetingOf(url), "Hello, Ada!")
  })

  it("does nothing for an unchanged build", async () => {
    const { code, stdout } = await terminal.run("shop", ["deploy"])
    assert.strictEqual(code, 0)
    assert.include(stdout, "Nothing to do: this build of shop is already deployed")
  })

  it("prints changes and removals", async () => {
    terminal.edit(sources, 'method: "GET"', 'method: "GET", auth: "required"')
    terminal.edit(sources, "export const hourly", "const hourly")
    terminal.edit(sources, "Hello,", "Hi,")
    const { code, stderr } = await terminal.run("shop", ["deploy"])
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, "~ webhook   GET /shop/hello → main/hello: auth\n")
    assert.include(stderr, "- schedule  0 * * * * (UTC) → main/hourly\n")
    assert.strictEqual(await greetingOf(url), "401")
  })

  it("deploys the previous build, and the later one again", async () => {
    const back = await terminal.run("shop", ["rollback"])
    assert.strictEqual(back.code, 0, back.stderr)
    assert.include(back.stderr, "+ schedule  0 * * * * (UTC) → main/hourly\n")
    assert.strictEqual(await greetingOf(url), "Hello, Ada!")
    const forth = await terminal.run("shop", ["rollback", "--json"])
    assert.strictEqual(JSON.parse(forth.stdout).changes.length, 2)
    assert.strictEqual(await greetingOf(url), "401")
    const unknown = await terminal.run("shop", ["rollback", "00000000-0000-4000-8000-000000000000"])
    assert.deepStrictEqual([unknown.code, /build/.test(unknown.stderr)], [1, true])
  })

  it("releases the deployed build, or the named one, from quarantine", async () => {
    const { code, stdout, stderr } = await terminal.run("shop", ["release", "--json"])
    assert.strictEqual(code, 0, stderr)
    const { build_id, ...facts } = JSON.parse(stdout)
    assert.deepStrictEqual(facts, { released: true, project: "shop" })
    assert.strictEqual((await terminal.run("shop", ["release", build_id])).stdout, `released ${build_id}\n`)
    assert.strictEqual((await terminal.run("shop", ["release", "00000000-0000-4000-8000-000000000000"])).code, 1)
  })

  it("needs a terminal for --confirm", async () => {
    const { code, stderr } = await terminal.run("shop", ["rollback", "--confirm"])
    assert.strictEqual(code, 2)
    assert.include(stderr, "--confirm needs a terminal for its prompt")
  })

  it("fails with the reason of the server, and keeps the deployed build", async () => {
    terminal.edit(sources, 'method: "GET"', 'method: "FETCH"')
    const { code, stderr } = await terminal.run("shop", ["deploy"])
    assert.strictEqual(code, 1)
    assert.match(stderr, /^error The build cannot be deployed: .*main\/hello.*method/m)
    terminal.edit(sources, 'method: "FETCH"', 'method: "GET"')
    assert.strictEqual(await greetingOf(url), "401")
  })

  it("fails after the server has ended, with a hint", async () => {
    assert.strictEqual((await server.interrupt()).code, 0)
    const { code, stderr } = await terminal.run("shop", ["deploy"])
    assert.strictEqual(code, 1)
    assert.match(stderr, /^error No server answers at http:.*\nhint {2}start one with `weft server`, or name another/)
  })
})

describe("weft build", () => {
  it("writes a zip with the same hash each time", async () => {
    const [first, second] = [
      await terminal.run("shop", ["build", "--json"]),
      await terminal.run("shop", ["build", "--json"])
    ]
    const facts = JSON.parse(first.stdout)
    assert.match(facts.hash, /^[0-9a-f]{64}$/)
    assert.strictEqual(JSON.parse(second.stdout).hash, facts.hash)
    assert.strictEqual(statSync(facts.file).size, facts.size)
    assert.sameMembers(
      facts.files.map(({ name }: { readonly name: string }) => name),
      ["index.js", "index.js.map"]
    )
  })

  it("includes assets under the names for svc.asset", async () => {
    terminal.write("shop/data/prices.json", "{}")
    terminal.edit("shop/weft.json", "{", '{ "assets": "data",')
    const { files } = JSON.parse((await terminal.run("shop", ["build", "--json"])).stdout)
    assert.deepInclude(files, { name: "data/prices.json", bytes: 2 })
  })

  it("includes modules of Node.js, aliases, and none of the external packages", async () => {
    const settings = { project: "node", entry: "index.ts", alias: { hashes: "node:crypto" }, external: ["sharp"] }
    terminal.write("node/weft.json", JSON.stringify(settings))
    terminal.write(
      "node/index.ts",
      'import { hash } from "hashes"\nimport sharp from "sharp"\nexport const a = () => [hash, sharp]'
    )
    const { code } = await terminal.run("node", ["build"])
    assert.strictEqual(code, 0)
    terminal.write("node/index.ts", 'import nothing from "node:nothing"\nexport const a = () => nothing')
    const { stderr } = await terminal.run("node", ["build"])
    assert.include(stderr, 'index.ts:1:21 Node has no module "node:nothing"')
  })

  it("names the invalid fields of weft.json", async () => {
    terminal.write("wrong/weft.json", '{ "project": "a/b", "entry": 1 }')
    const { code, stderr } = await terminal.run("wrong", ["build"])
    assert.strictEqual(code, 1)
    assert.match(stderr, /weft\.json is invalid: project: must not contain a slash; entry: /)
    assert.notInclude(stderr, "a/b")
    const none = await terminal.run(".", ["build"])
    assert.match(
      none.stderr,
      /^error No weft\.json in this folder or its parent folders\nhint {2}create a project with `weft init`/
    )
  })
})

describe("the config file", () => {
  it("is rejected if other users can read it", async () => {
    terminal.write(".config/weft/config.json", '{ "profiles": {} }')
    const { chmodSync } = await import("node:fs")
    chmodSync(terminal.configFile, 0o644)
    const { code, stderr } = await terminal.run("shop", ["deploy"])
    assert.strictEqual(code, 1)
    assert.strictEqual(
      stderr,
      `error ${terminal.configFile} contains tokens, but other users can read it\nhint  chmod 600 ${terminal.configFile}\n`
    )
  })
})
