/** Backups of a server in this process, whose restored copy starts. `backup.e2e.test.ts` makes one under load. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@weft/client"
import { start } from "@weft/core"
import { trustedSandbox, trustedZip } from "@weft/core/testing"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as Sqlite from "@weft/sqlite"
import { Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { createBackup, describeBackup, restoreBackup, verifyBackup } from "../../src/hosting/Backups.ts"
import { modules } from "../ops/functions.ts"

const root = mkdtempSync(join(tmpdir(), "weft-backups-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const fresh = (name: string): string => join(mkdtempSync(join(root, "f-")), name)

const openServer = async (data: string) => {
  const weft = await start({
    database: Sqlite.database({ file: join(data, "weft.db"), synchronous: "normal" }),
    blobs: Filesystem.blobs({ dir: join(data, "blobs") }),
    sandbox: trustedSandbox(modules),
    masterKeys: [Filesystem.masterKey({ file: join(data, "master.key") })]
  })
  const listening = await Http.listen(weft, { port: 0 })
  return {
    weft,
    url: listening.url,
    close: async () => {
      await listening.close({ graceMs: 0 })
      await weft.close()
    }
  }
}

const data = fresh("data")
const backup = fresh("backup")
const keyFile = join(data, "master.key")
let token = ""
let keyIds: ReadonlyArray<string> = []
beforeAll(async () => {
  const { weft, url, close } = await openServer(data)
  const org = await weft.orgs.create({ slug: "acme" })
  const env = await weft.envs.create(org.slug, { name: "prod" })
  token = Redacted.value((await weft.apiKeys.create(env.env_id, {})).token)
  const client = createClient({ baseUrl: url, token })
  await client.projects.create({ name: "shop" })
  await client.context.create("shop", { key: "GREETING", value: "hello" })
  const { build_id } = await client.builds.upload("shop", trustedZip("shop"))
  await client.builds.deploy("shop", build_id)
  await client.files.upload("reports/today.csv", new Blob(["a,b\n"]))
  const source = { database: join(data, "weft.db"), blobs: join(data, "blobs") }
  const made = await createBackup({ folder: backup, ...source, version: "1.2.3" })
  keyIds = made.keyIds
  assert.deepInclude(made, { lost: [] })
  await close()
})

/** Returns a damaged copy of the backup. */
const damagedBackup = (damage: (folder: string) => void): string => {
  const folder = fresh("damaged")
  cpSync(backup, folder, { recursive: true, verbatimSymlinks: true })
  damage(folder)
  return folder
}

const messageOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "no failure",
    (error: unknown) => (error instanceof Error ? error.message : String(error))
  )

const manifestOf = (folder: string) => readFileSync(join(folder, "manifest.ndjson"), "utf8")

describe("a backup", () => {
  it("of a running server starts elsewhere with its records, files and builds", async () => {
    const target = fresh("restored")
    const { files } = await restoreBackup({ folder: backup, data: target, keyFile, keys: [], lostKeys: [] })
    assert.strictEqual(files, (await verifyBackup(backup)).files)
    const { url, close } = await openServer(target)
    const client = createClient({ baseUrl: url, token })
    const [file] = (await client.files.list({})).items
    assert.strictEqual(await (await client.files.download(file?.file_id ?? "")).text(), "a,b\n")
    assert.deepInclude(await client.calls.call({ fn: "main/add", args: [1, 2], wait: 20 }), { status: "succeeded" })
    await close()
  })

  it("contains no master key, and names it by its id", () => {
    assert.isFalse(existsSync(join(backup, "master.key")))
    assert.notInclude(manifestOf(backup), readFileSync(keyFile, "utf8").trim())
    assert.strictEqual(keyIds.length, 1)
    assert.match(keyIds[0] ?? "", /^[0-9a-f]{16}$/)
  })

  it("is refused by a folder that is not empty, and by another master key", async () => {
    const target = fresh("data")
    const keys = [Buffer.alloc(32, 7).toString("base64")]
    const options = { folder: backup, data: target, keyFile: null, keys, lostKeys: [] }
    assert.match(
      await messageOf(restoreBackup(options)),
      new RegExp(`need the master key with the id ${keyIds[0]}, but`)
    )
    assert.isFalse(existsSync(target))
    assert.match(await messageOf(restoreBackup({ ...options, keys: [] })), /master key of the backup is not given/)
    assert.match(await messageOf(restoreBackup({ ...options, data, keyFile })), /is not empty: it contains/)
    const source = { database: join(data, "weft.db"), blobs: join(data, "blobs"), version: "1.2.3" }
    assert.match(await messageOf(createBackup({ folder: backup, ...source })), /is not empty/)
    await restoreBackup({ ...options, lostKeys: keyIds })
    assert.isFalse(existsSync(join(target, "master.key")))
  })

  it("with a damaged or a missing file is not restored", async () => {
    const shortened = damagedBackup((folder) => truncateSync(join(folder, "weft.db"), 8192))
    const missing = damagedBackup((folder) => rmSync(join(folder, "blobs/content/files"), { recursive: true }))
    const half = damagedBackup((folder) => {
      const lines = manifestOf(folder).split("\n")
      writeFileSync(join(folder, "manifest.ndjson"), lines.slice(0, -2).join("\n"))
    })
    const leaving = damagedBackup((folder) =>
      writeFileSync(
        join(folder, "manifest.ndjson"),
        manifestOf(folder).replace('"path":"weft.db"', '"path":"../weft.db"')
      )
    )
    for (const [folder, reason] of [
      [shortened, /weft\.db of the backup is damaged/],
      [missing, /blobs\/content\/files\/.* of the backup is missing/],
      [half, /manifest\.ndjson is damaged at line/],
      [leaving, /manifest\.ndjson is damaged at line 2/]
    ] as const) {
      const target = fresh("data")
      assert.match(await messageOf(verifyBackup(folder)), reason)
      assert.match(await messageOf(restoreBackup({ folder, data: target, keyFile, keys: [], lostKeys: [] })), reason)
      assert.isFalse(existsSync(join(target, "weft.db")))
    }
    assert.match(await messageOf(verifyBackup(root)), /has no manifest\.ndjson/)
  })

  it("of a server that lost a blob names it, and is complete without it", async () => {
    const broken = damagedBackup((folder) => rmSync(join(folder, "blobs/content/files"), { recursive: true }))
    const folder = fresh("backup")
    const source = { database: join(broken, "weft.db"), blobs: join(broken, "blobs") }
    const { lost } = await createBackup({ folder, ...source, version: "1.2.3" })
    assert.match(lost.join(), /^files\/[^,]+$/)
    await verifyBackup(folder)
  })

  it("of other programs gets a manifest", async () => {
    const folder = mkdtempSync(join(root, "dump-"))
    writeFileSync(join(folder, "weft.dump"), "of pg_dump")
    assert.strictEqual(await describeBackup(folder, "1.2.3"), 1)
    assert.deepInclude(await verifyBackup(folder), { files: 1, bytes: 10 })
    const target = fresh("data")
    const options = { folder, data: target, keyFile, keys: [], lostKeys: [] }
    assert.match(await messageOf(restoreBackup(options)), /has no SQLite database/)
    writeFileSync(join(folder, "weft.dump"), "of pg_dumb")
    assert.match(await messageOf(verifyBackup(folder)), /weft\.dump of the backup is damaged/)
  })
})
