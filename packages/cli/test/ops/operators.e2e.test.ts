/** Commands for operators, also those of `docs/incidents.md`. */
import { once } from "node:events"
import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { CliHarness } from "./CliHarness.ts"

let harness: CliHarness
beforeAll(async () => {
  harness = await CliHarness.start()
})
afterAll(() => harness.close())

interface Check {
  readonly name: string
  readonly status: string
}

/** Returns a URL on which no server listens. */
const closedUrl = async (): Promise<string> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
}

describe("weft doctor", () => {
  it("prints a line per check, and warns of another release", async () => {
    const { code, stdout, stderr } = await harness.run(["doctor"])
    assert.strictEqual(code, 0)
    for (const name of ["cli", "transport", "server", "clock", "database", "blobs", "sandbox", "deliveries"]) {
      assert.match(stdout, new RegExp(`^ok {7}${name} `, "m"))
    }
    assert.match(
      stdout,
      /^warning {2}version +the server is 1\.2\.3, the command line .*\n +hint {2}install the release/m
    )
    assert.match(stderr, /^\d+ checks, 1 warnings$/m)
    assert.notInclude(stdout, harness.token)
  })

  it("prints all checks as JSON", async () => {
    const checks: ReadonlyArray<Check> = await harness.json(["doctor"])
    assert.includeMembers(
      checks.map(({ name, status }) => `${name} ${status}`),
      ["transport ok", "server ok", "version warning", "database ok", "sandbox ok"]
    )
  })

  it("fails with exit code 1 for a refused token and for an unreachable server", async () => {
    const closed = await closedUrl()
    const [refused, missing, unreachable] = await Promise.all([
      harness.run(["doctor", "--json"], { env: { WEFT_ADMIN_TOKEN: "token-of-another-server" } }),
      harness.run(["doctor"], { env: { WEFT_ADMIN_TOKEN: "" } }),
      harness.run(["doctor"], { env: { WEFT_URL: closed } })
    ])
    for (const { code } of [refused, missing, unreachable]) assert.strictEqual(code, 1)
    const checks: ReadonlyArray<Check> = JSON.parse(refused.stdout)
    assert.deepInclude(checks.at(-1), { name: "admin-token", status: "failure" })
    assert.strictEqual(JSON.parse(refused.stderr).error.code, "checks_failed")
    assert.notInclude(refused.stdout + refused.stderr, "token-of-another-server")
    assert.match(missing.stdout, /^failure {2}admin-token +No admin token is known/m)
    assert.match(unreachable.stdout, /^failure {2}server /m)
    assert.include(unreachable.stdout, `No server answers at ${closed}\n`)
    assert.match(unreachable.stderr, /^error 1 of 3 checks failed$/m)
  })
})

describe("weft dead-letters", () => {
  it("lists, counts and discards dead letters", async () => {
    await harness.run(["run", "main/fail"])
    const [letter] = await harness.json(["dead-letters", "list", "--function", "main/fail", "--since", "1h"])
    const counted = await harness.run(["dead-letters", "redrive", letter.run_id, "--build", "deployed", "--dry-run"])
    assert.deepInclude(counted, { code: 0, stdout: "Would start 1 dead letter again\n" })
    const background = ["dead-letters", "redrive", "--background", "--function", "main/fail", "--error"]
    const [matched, mixed] = await Promise.all([
      harness.run([...background, "no such RATE", "--since", "1h", "--dry-run"]),
      harness.run([...background, "rate", letter.run_id])
    ])
    assert.deepInclude(matched, { code: 0, stdout: "Would redrive 1 run\n" })
    assert.include(mixed.stderr, "--background cannot be combined with ids")
    const nobody = "01890000-0000-7000-8000-000000000000"
    const discarded = { discarded: 1, skipped: [{ reason: "no dead letter has this id", count: 1 }] }
    assert.deepStrictEqual(await harness.json(["dead-letters", "discard", letter.run_id, nobody]), discarded)
    const unselective = await harness.run(["dead-letters", "redrive", nobody, "--all"])
    assert.include(unselective.stderr, "give their ids, or filters such as --function, or --all")
  })
})

describe("weft operations", () => {
  it("replay and cancel all runs that flags select, in the background", async () => {
    const matching = ["--all-matching", "--status", "failed", "--function", "main/fail"]
    await harness.client.calls.call({ fn: "main/fail", wait: 20 })
    const { matched } = await harness.json(["runs", "replay", ...matching, "--dry-run"])
    const [replayed, cancelled, without, mixed] = await Promise.all([
      harness.json(["runs", "replay", ...matching, "--since", "1h", "--build", "deployed"]),
      harness.run(["runs", "cancel", "--all-matching", "--function", "main/none"]),
      harness.run(["runs", "replay", "--all-matching"]),
      harness.run(["runs", "cancel", "--all", "--project", "shop"])
    ])
    assert.deepInclude(replayed, { kind: "replay", state: "succeeded", done: matched })
    assert.strictEqual(cancelled.stdout, "succeeded: 0 of 0 (0 done)\n")
    assert.include(without.stderr, "--all-matching needs --status")
    assert.include(mixed.stderr, "need --all-matching")
    const publish = () => harness.client.events.publish({ event_type: "order:created", event_data: { total: 4 } })
    const events = await Promise.all(Array.from({ length: 20 }, publish))
    for (const { event_id } of events) while ((await harness.client.events.runs(event_id)).total === 0);
    const slow = ["--all-matching", "--status", "succeeded", "--rate", "1", "--detach"]
    const left = await harness.json(["runs", "replay", ...slow])
    const stopped = await harness.json(["operations", "cancel", left.operation_id])
    assert.deepInclude(stopped, { operation_id: left.operation_id, state: "cancelled" })
    const followed = await harness.json(["operations", "follow", left.operation_id])
    assert.deepStrictEqual([followed, (await harness.json(["operations", "list"])).length], [stopped, 3])
  })
})
