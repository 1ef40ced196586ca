import { execFile } from "node:child_process"
import { existsSync, statSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Going, Terminal } from "./Terminal.ts"

const terminal = new Terminal()
const packages = ["@weft/sdk", "zod", "vitest"]
const sources = "shop/src/index.ts"
/** The sources as `weft init` has made them. */
let pristine: string

beforeAll(async () => {
  const made = await terminal.run(".", ["init", "shop"])
  assert.strictEqual(made.code, 0, made.stderr)
  assert.include(made.stdout, "  cd shop\n  npm install\n  npx weft dev\n")
  terminal.install("shop", packages)
  pristine = terminal.read(sources)
})

afterAll(() => terminal[Symbol.dispose]())

/** The URL of the one webhook, as the command has told it. */
const webhookIn = (said: string): string => /http:\S+\/hello/.exec(said)?.[0] ?? assert.fail(`no webhook in: ${said}`)

const greetingOf = async (url: string): Promise<string> => {
  const response = await fetch(`${url}?name=Ada`)
  const body = (await response.json()) as { readonly greeting?: string }
  return body.greeting ?? `${response.status}`
}

describe("weft init", () => {
  it("makes a project whose test passes and whose types hold", async () => {
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
    // The sources of the kit, which this workspace has instead of what is published, want Node's types.
    const types = ["--types", "node", "--typeRoots", bin("@types/node", "..")]
    await run(process.execPath, [bin("typescript", "bin/tsc"), "--customConditions", "weft-source", ...types], { cwd })
  })

  it("overwrites nothing", async () => {
    const before = terminal.read("shop/package.json")
    const again = await terminal.run(".", ["init", "shop"])
    assert.strictEqual(again.code, 1)
    assert.match(
      again.stderr,
      /^error There is a package\.json in .*shop already, and nothing is overwritten\nhint {2}/
    )
    assert.strictEqual(terminal.read("shop/package.json"), before)
    terminal.write("half/src/index.ts", "mine")
    assert.strictEqual((await terminal.run("half", ["init"])).code, 1)
    assert.isFalse(existsSync(join(terminal.home, "half/package.json")))
  })

  it("refuses names that cannot be packages", async () => {
    const refused = await terminal.run(".", ["init", "My Shop"])
    assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
    assert.include(refused.stderr, '"My Shop" cannot be a project\'s name')
  })
})

describe("weft dev", () => {
  let dev: Going
  let url: string

  beforeAll(async () => {
    dev = terminal.begin("shop", ["dev"])
    url = webhookIn(await dev.says("main/hourly  next at"))
  }, 300_000)

  /** Saves, and waits until the command says that it is live. */
  const save = (from: string, to: string) => {
    const before = dev.said().split("live in").length - 1
    terminal.edit(sources, from, to)
    return { begun: performance.now(), live: dev.says("live in", before + 1) }
  }

  it("starts a local server where there is none, and tells what there is", async () => {
    assert.match(
      dev.said(),
      /^shop on http:\/\/127\.0\.0\.1:\d+, a local server with its data in \.weft\nlive in \d+ ms/
    )
    assert.match(
      dev.said(),
      / webhook {3}GET \/shop\/hello → main\/hello {2}http:\/\/127\.0\.0\.1:\d+\/webhook\/default\/development\/shop\/hello\n/
    )
    assert.include(dev.said(), " handler   guest:greeted → main/onGreeted\n")
    assert.match(
      dev.said(),
      / schedule {2}0 \* \* \* \* \(UTC\) → main\/hourly {2}next at \d{4}-\d\d-\d\d \d\d:00:00\n/
    )
    assert.strictEqual(await greetingOf(url), "Hello, Ada!")
  })

  it("tells runs and what they log, with the function", async () => {
    await dev.says(/main\/hello succeeded in .* ms/)
    await dev.says(/main\/onGreeted info {2}greeted Ada\n/)
    await dev.says(/main\/onGreeted succeeded in .* ms/)
  })

  it("makes live what is saved", async () => {
    const waits: Array<number> = []
    for (const [from, to] of [
      ["Hello,", "Hi,"],
      ["Hi,", "Good day,"],
      ["Good day,", "Hello,"]
    ] as const) {
      const { begun, live } = save(from, to)
      await live
      waits.push(performance.now() - begun)
      assert.strictEqual(await greetingOf(url), `${to} Ada!`)
    }
    console.log(`save → live: ${waits.map(Math.round).join(", ")} ms`)
  })

  it("tells what a save changes", async () => {
    terminal.edit(sources, '"0 * * * *"', '{ cron: "30 * * * *", timezone: "Europe/Oslo" }')
    await dev.says("+ schedule  30 * * * * (Europe/Oslo) → main/hourly")
    await dev.says("- schedule  0 * * * * (UTC) → main/hourly")
    terminal.edit(sources, '{ cron: "30 * * * *", timezone: "Europe/Oslo" }', '"0 * * * *"')
    await dev.says("- schedule  30 * * * * (Europe/Oslo) → main/hourly")
  })

  it("names the place of what does not build, and keeps the last build live", async () => {
    terminal.edit(sources, "return { status: 200", "return return { status: 200")
    await dev.says(/error The project does not build\n {2}src\/index\.ts:9:\d+ .*\n {4}return return/)
    assert.strictEqual(await greetingOf(url), "Hello, Ada!")
    terminal.edit(sources, "return return", "return")
  })

  it("names the place of metadata that the server refuses", async () => {
    terminal.edit(sources, '"0 * * * *"', '"every hour"')
    await dev.says(/error .*main\/hourly.*schedule.*\n {2}src\/index\.ts:\d+:14\n/)
    assert.strictEqual(await greetingOf(url), "Hello, Ada!")
    terminal.edit(sources, '"every hour"', '"0 * * * *"')
  })

  it("shows where a function failed", async () => {
    await save("await svc.events.publish", 'throw new TypeError("no guests")\n  await svc.events.publish').live
    assert.strictEqual(await greetingOf(url), "500")
    await dev.says(/main\/hello failed in .*\n {2}TypeError: no guests\n(.*\n)*? {4}at src\/index\.ts:8:9/)
    await save('throw new TypeError("no guests")\n  ', "").live
  })

  it("ends its live build, and the server, with Ctrl-C", async () => {
    const { code, stderr } = await dev.interrupt()
    assert.strictEqual(code, 0)
    assert.include(stderr, "The live build has ended: what is deployed serves again")
    assert.strictEqual(await fetch(url).catch(() => "gone"), "gone")
  })
})

describe("weft deploy", () => {
  let server: Going
  let url: string

  beforeAll(async () => {
    terminal.write(sources, pristine)
    server = terminal.begin("shop", ["server", "--port", "0"])
    await server.says("weft listening on http://127.0.0.1:")
  }, 300_000)

  it("keeps the local server's keys where nobody else reads them", async () => {
    assert.strictEqual(statSync(terminal.configFile).mode & 0o777, 0o600)
    assert.strictEqual(statSync(join(terminal.configFile, "..")).mode & 0o777, 0o700)
    assert.notInclude(server.said(), "svc_")
  })

  it("shows what would change, and does nothing with --dry-run", async () => {
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
    const listed = JSON.parse((await terminal.run("shop", ["rollback", "--json"])).stderr)
    assert.strictEqual(listed.error.code, "no_former_build")
  })

  it("deploys, and tells where webhooks are", async () => {
    const { code, stdout, stderr } = await terminal.run("shop", ["deploy"])
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, "+ webhook   GET /shop/hello → main/hello\n")
    assert.match(stdout, /^deployed [0-9a-f-]{36}\n/)
    url = webhookIn(stdout)
    assert.strictEqual(await greetingOf(url), "Hello, Ada!")
  })

  it("has nothing to do for the same build", async () => {
    const { code, stdout } = await terminal.run("shop", ["deploy"])
    assert.strictEqual(code, 0)
    assert.include(stdout, "Nothing to do: this very build of shop is deployed already")
  })

  it("tells what is changed and removed", async () => {
    terminal.edit(sources, 'method: "GET"', 'method: "GET", auth: "required"')
    terminal.edit(sources, "export const hourly", "const hourly")
    terminal.edit(sources, "Hello,", "Hi,")
    const { code, stderr } = await terminal.run("shop", ["deploy"])
    assert.strictEqual(code, 0, stderr)
    assert.include(stderr, "~ webhook   GET /shop/hello → main/hello: auth\n")
    assert.include(stderr, "- schedule  0 * * * * (UTC) → main/hourly\n")
    assert.strictEqual(await greetingOf(url), "401")
  })

  it("goes back to what was deployed before, and forth again", async () => {
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

  it("needs a terminal to ask in", async () => {
    const { code, stderr } = await terminal.run("shop", ["rollback", "--confirm"])
    assert.strictEqual(code, 2)
    assert.include(stderr, "--confirm needs a terminal to ask in")
  })

  it("fails with a server's reason, and leaves what serves", async () => {
    terminal.edit(sources, 'method: "GET"', 'method: "FETCH"')
    const { code, stderr } = await terminal.run("shop", ["deploy"])
    assert.strictEqual(code, 1)
    assert.match(stderr, /^error The build cannot be deployed: .*main\/hello.*method/m)
    terminal.edit(sources, 'method: "FETCH"', 'method: "GET"')
    assert.strictEqual(await greetingOf(url), "401")
  })

  it("ends with the server, which says so", async () => {
    assert.strictEqual((await server.interrupt()).code, 0)
    const { code, stderr } = await terminal.run("shop", ["deploy"])
    assert.strictEqual(code, 1)
    assert.match(stderr, /^error No server answers at http:.*\nhint {2}start one with `weft server`, or name another/)
  })
})

describe("weft build", () => {
  it("writes a zip whose hash is the same every time", async () => {
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

  it("carries the assets by the names that functions know", async () => {
    terminal.write("shop/data/prices.json", "{}")
    terminal.edit("shop/weft.json", "{", '{ "assets": "data",')
    const { files } = JSON.parse((await terminal.run("shop", ["build", "--json"])).stdout)
    assert.deepInclude(files, { name: "data/prices.json", bytes: 2 })
  })

  it("says what functions cannot import", async () => {
    terminal.write("node/weft.json", '{ "project": "node", "entry": "index.ts" }')
    terminal.write("node/index.ts", 'import fs from "node:fs"\nexport const a = () => fs')
    const { code, stderr } = await terminal.run("node", ["build"])
    assert.strictEqual(code, 1)
    assert.include(stderr, 'index.ts:1:16 Functions run without Node\'s modules, such as "node:fs"')
  })

  it("names the wrong field of weft.json", async () => {
    terminal.write("wrong/weft.json", '{ "project": "a/b", "entry": 1 }')
    const { code, stderr } = await terminal.run("wrong", ["build"])
    assert.strictEqual(code, 1)
    assert.match(stderr, /weft\.json is not as it should be: project: must have no slash; entry: /)
    assert.notInclude(stderr, "a/b")
    const none = await terminal.run(".", ["build"])
    assert.match(
      none.stderr,
      /^error There is no weft\.json here or in a folder above\nhint {2}make a project with `weft init`/
    )
  })
})

describe("the config file", () => {
  it("is not read when others can read it", async () => {
    terminal.write(".config/weft/config.json", '{ "profiles": {} }')
    const { chmodSync } = await import("node:fs")
    chmodSync(terminal.configFile, 0o644)
    const { code, stderr } = await terminal.run("shop", ["deploy"])
    assert.strictEqual(code, 1)
    assert.strictEqual(
      stderr,
      `error ${terminal.configFile} can be read by others, and there are tokens in it\nhint  chmod 600 ${terminal.configFile}\n`
    )
  })
})
