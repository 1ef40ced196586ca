/** Runs the backup and restore commands of `docs/operating.md` and `docs/incidents.md` unchanged, on servers under load. */
import { execFile, execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { commandLine } from "@weft/tooling/programs"
import { pgDump, postgres, rsync } from "@weft/tooling/services"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Load, source, startLoad } from "./backup/Load.ts"
import { expectEvents, expectFiles, settled, succeeded } from "./backup/RestoreChecks.ts"
import { type ServerProcess, startServer } from "./ServerProcess.ts"

const page = readFileSync(new URL("../../../docs/operating.md", import.meta.url), "utf8")

/** Returns the code block of the page that contains this text. */
const findBlock = (part: string): string => {
  const found = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .map(([, text = ""]) => text)
    .filter((text) => text.includes(part))
  const [only] = found
  if (only === undefined || found.length > 1) throw new Error(`${found.length} blocks of the page contain ${part}`)
  return only
}

const root = mkdtempSync(join(tmpdir(), "weft-backup-"))
const ends: Array<() => Promise<unknown>> = []
afterAll(async () => {
  for (const end of ends) await end().catch(() => undefined)
  rmSync(root, { recursive: true, force: true })
})

/** Folder of PostgreSQL programs with `pg_dump`, which the npm package does not contain. */
let debianBin = ""

/** Runs a block of the page in a shell, without blocking this process. */
const shell = async (script: string, variables: Readonly<Record<string, string>>): Promise<void> => {
  const PATH = `${root}/bin:${debianBin}:${process.env.PATH}`
  await promisify(execFile)("sh", ["-eu", "-c", script], { env: { PATH, HOME: root, ...variables } })
}

const startOn = async (dir: string, variables: Readonly<Record<string, string>> = {}): Promise<ServerProcess> => {
  const server = await startServer(dir, { WEFT_SANDBOX_RUNNERS: "1", ...variables })
  ends.unshift(server.kill)
  return server
}

const prepare = async (server: ServerProcess): Promise<void> => {
  await server.upload("backup", source)
  await server.call("POST", "/v1/projects/backup/context", { key: "GREETING", value: "hello from before" })
}

/** Waits for enough acknowledged requests and succeeded runs, and returns them. */
const waitForLoad = async (server: ServerProcess, load: Load) => {
  for (;;) {
    const now = { ...load.acknowledged(), runs: await succeeded(server) }
    if (now.events.size > 30 && now.files.size > 10 && now.runs.size > 10) return now
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Backs up under load. Returns the requests acknowledged and the runs succeeded before the backup. */
const backUpUnderLoad = async (server: ServerProcess, backUp: () => Promise<void>) => {
  const load = startLoad(server)
  const before = await waitForLoad(server, load)
  await backUp()
  await load.stop()
  expect(load.acknowledged().events.size).toBeGreaterThan(before.events.size)
  return before
}

const expectAll = async (server: ServerProcess, before: Awaited<ReturnType<typeof backUpUnderLoad>>): Promise<void> => {
  await settled(server)
  const runs = await succeeded(server)
  for (const [id, run] of before.runs) expect(runs.get(id)).toEqual(run)
  await expectEvents(server, before.events)
  await expectFiles(server, before.files)
  const answer = await server.call("GET", "/webhook/default/production/backup/hello")
  expect(answer).toEqual({ greeting: "hello from before" })
}

/** Lists the metrics that the page documents. */
const documentedMetrics = (): ReadonlyArray<string> => {
  const [, table = ""] = /<!-- metrics -->([\s\S]*?)<!-- \/metrics -->/.exec(page) ?? []
  const cells = table.split("\n").flatMap((line) => /^\| (`.*?) \|/.exec(line)?.[1] ?? [])
  return cells.flatMap((cell) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = ""]) => name)).sort()
}

const exposedMetrics = async (server: ServerProcess): Promise<ReadonlyArray<string>> => {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name).sort()
}

/** Installs the program `weft`. */
const installWeft = async (): Promise<void> => {
  mkdirSync(join(root, "bin"))
  const script = `#!/bin/sh\nexec "${process.execPath}" "${await commandLine()}" "$@"\n`
  writeFileSync(join(root, "bin", "weft"), script, { mode: 0o755 })
}

beforeAll(async () => {
  rsync()
  debianBin = pgDump()
  await installWeft()
})

describe("a backup by the commands of the page", () => {
  it("of SQLite and a folder contains everything acknowledged before its start", async () => {
    const [data, backup, keys, fresh] = ["data", "backup", "keys", "new"].map((name) => join(root, name))
    if (!data || !backup || !keys || !fresh) throw new Error("Four were named")
    const server = await startOn(data)
    await prepare(server)
    const variables = { DATA: data, BACKUP: backup, KEYS: keys, NEW: fresh }
    const before = await backUpUnderLoad(server, () => shell(findBlock("weft backup create"), variables))
    await server.kill()
    await shell(findBlock("weft backup verify"), variables)

    mkdirSync(keys)
    cpSync(join(data, "master.key"), join(keys, "master.key"))
    await shell(findBlock("weft backup restore"), variables)
    const restored = await startOn(fresh)
    await expectAll(restored, before)
    expect(await exposedMetrics(restored)).toEqual(documentedMetrics().filter((name) => !name.startsWith("weft_feed_")))
    expect(await restored.stop()).toBe(0)
  })

  it("of PostgreSQL contains everything acknowledged before its start", async () => {
    const database = await postgres({ bin: debianBin })
    ends.unshift(database.remove)
    const [data, backup, fresh] = ["pg-data", "pg-backup", "pg-new"].map((name) => join(root, name))
    if (!data || !backup || !fresh) throw new Error("Three were named")
    for (const dir of [backup, fresh]) mkdirSync(dir)
    // The restored node waits until the lease in the copy expires.
    const common = { WEFT_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"), WEFT_LIMIT_LEASE_MS: "3000" }
    const server = await startOn(data, { ...common, WEFT_DATABASE_URL: database.url })
    await prepare(server)
    // A folder replaces the bucket. It is copied before and after the dump, as the page says.
    const copyBlobs = () =>
      shell('rsync -a "$DATA/blobs/content" "$BACKUP/blobs/" || [ $? = 24 ]', { DATA: data, BACKUP: backup })
    const before = await backUpUnderLoad(server, async () => {
      mkdirSync(join(backup, "blobs"))
      await copyBlobs()
      await shell(findBlock("pg_dump"), { BACKUP: backup, WEFT_DATABASE_URL: database.url })
      await copyBlobs()
      await shell(findBlock("weft backup manifest"), { BACKUP: backup })
    })
    expect(await exposedMetrics(server)).toEqual(documentedMetrics())
    await server.kill()

    execFileSync(join(debianBin, "psql"), ["--quiet", "--command", "CREATE DATABASE restored", database.url])
    const url = new URL(database.url)
    url.pathname = "/restored"
    await shell(findBlock("weft backup verify"), { BACKUP: backup })
    await shell(findBlock("pg_restore --no-owner"), { BACKUP: backup, NEW_DATABASE_URL: url.href })
    cpSync(join(backup, "blobs"), join(fresh, "blobs"), { recursive: true, verbatimSymlinks: true })
    const restored = await startOn(fresh, { ...common, WEFT_DATABASE_URL: url.href })
    await expectAll(restored, before)
    expect(await restored.stop()).toBe(0)
  })
})
