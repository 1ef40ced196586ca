import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { BreakingProxy } from "./BreakingProxy.ts"
import { World } from "./World.ts"

let world: World
beforeAll(async () => {
  world = await World.start()
  mkdirSync(join(world.folder, "site", "css"), { recursive: true })
  writeFileSync(join(world.folder, "site", "index.html"), "<h1>Weft</h1>")
  writeFileSync(join(world.folder, "site", "css", "main.css"), "h1 { color: teal }")
})
afterAll(() => world.close())

const local = (name: string): string => join(world.folder, name)

/** More than one request takes, and no part like another. */
const large = Buffer.alloc(20 * 1024 ** 2, "weft files put ")

describe("weft files", () => {
  it("puts single files where they are wanted, and gets them back", async () => {
    writeFileSync(local("report.csv"), "a,b\n1,2\n")
    const [own, folder, exact, stdin] = await Promise.all([
      world.json(["files", "put", "report.csv"]),
      world.json(["files", "put", "report.csv", "reports/"]),
      world.json(["files", "put", "report.csv", "reports/today", "--content-type", "text/x-report"]),
      world.json(["files", "put", "-", "notes/hello.txt"], { stdin: "hello" })
    ])
    assert.deepInclude(own, { path: "report.csv", size: 8, content_type: "text/csv" })
    assert.deepInclude(folder, { path: "reports/report.csv" })
    assert.deepInclude(exact, { path: "reports/today", content_type: "text/x-report" })
    assert.deepInclude(stdin, { path: "notes/hello.txt", size: 5, content_type: "text/plain" })
    const [list, out, got] = await Promise.all([
      world.run(["files", "list", "reports/"]),
      world.run(["files", "get", "notes/hello.txt", "-"]),
      world.run(["files", "get", "reports/today", "copies/"])
    ])
    assert.match(
      list.stdout,
      /^PATH +SIZE +CHANGED +TYPE\nreports\/report\.csv +8 B +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +text\/csv\n/
    )
    assert.deepInclude(out, { code: 0, stdout: "hello" })
    assert.strictEqual(readFileSync(local("copies/today"), "utf8"), "a,b\n1,2\n", got.stderr)
  })

  it("puts, gets and removes folders", async () => {
    const put = await world.run(["files", "put", "--recursive", "site", "public/"])
    assert.deepInclude(put, { code: 0, stderr: "" })
    assert.sameMembers(put.stdout.trim().split("\n"), ["public/css/main.css  18 B", "public/index.html  13 B"])
    await world.run(["files", "get", "--recursive", "public", "back"])
    assert.strictEqual(readFileSync(local("back/css/main.css"), "utf8"), "h1 { color: teal }")
    const link = await world.run(["files", "url", "public/index.html", "--expires", "7d"])
    const { pathname, search } = new URL(link.stdout.trim())
    assert.strictEqual(await (await fetch(`${world.listening.url}${pathname}${search}`)).text(), "<h1>Weft</h1>")
    const removed = await world.run(["files", "rm", "--recursive", "public"])
    assert.strictEqual(removed.stdout, "Removed public/css/main.css\nRemoved public/index.html\n")
    assert.deepStrictEqual(await world.json(["files", "list", "public/"]), [])
  })

  it("says what is wrong with what is asked for, and harms nothing", async () => {
    writeFileSync(local("kept.txt"), "mine")
    await world.client.files.put("kept.txt", "theirs")
    await world.client.files.put("folder/inside.txt", "x")
    const [folder, remote, kept, unnamed, missing, unknown] = await Promise.all([
      world.run(["files", "put", "site"]),
      world.run(["files", "get", "folder"]),
      world.run(["files", "get", "kept.txt"]),
      world.run(["files", "put", "-"], { stdin: "x" }),
      world.run(["files", "put", "none.txt"]),
      world.run(["files", "rm", "none.txt"])
    ])
    assert.deepInclude(folder, {
      code: 2,
      stderr: "error site is a folder\nhint  give --recursive to put all that is in it\n"
    })
    assert.deepInclude(remote, {
      code: 1,
      stderr: "error There is no file folder\nhint  it is a folder: give --recursive\n"
    })
    assert.include(kept.stderr, "--force replaces it")
    assert.strictEqual(readFileSync(local("kept.txt"), "utf8"), "mine")
    assert.deepInclude(unnamed, { code: 2 })
    assert.deepInclude(missing, { code: 1, stderr: "error none.txt cannot be read: there is no such file\n" })
    assert.deepInclude(unknown, { code: 1 })
    await world.run(["files", "get", "kept.txt", "--force"])
    assert.strictEqual(readFileSync(local("kept.txt"), "utf8"), "theirs")
  })

  it("goes on with an upload that broke off, when the command is repeated", async () => {
    writeFileSync(local("large.bin"), large)
    const proxy = await BreakingProxy.start(world.listening.url)
    const env = { WEFT_URL: proxy.url }
    try {
      proxy.partsMax = 2
      const broken = await world.run(["files", "put", "large.bin"], { env })
      assert.deepInclude(broken, { code: 1, stdout: "" })
      assert.include(broken.stderr, "hint  repeat the command: it goes on where it was\n")
      assert.strictEqual(proxy.parts, 2)
      proxy.partsMax = Number.POSITIVE_INFINITY
      const whole = await world.json(["files", "put", "large.bin"], { env })
      assert.deepInclude(whole, { path: "large.bin", size: large.byteLength })
      assert.strictEqual(proxy.parts, 3)
      assert.deepStrictEqual(Buffer.from(await bytesOf(whole.file_id)), large)
    } finally {
      await proxy.close()
    }
  })

  it("begins anew where the file has changed, or the server has given the upload up", async () => {
    writeFileSync(local("changing.bin"), large)
    const proxy = await BreakingProxy.start(world.listening.url)
    const env = { WEFT_URL: proxy.url }
    try {
      proxy.partsMax = 1
      await world.run(["files", "put", "changing.bin"], { env })
      writeFileSync(local("changing.bin"), large.fill("other bytes"))
      utimesSync(local("changing.bin"), 1_000_000_000, 1_000_000_000)
      proxy.partsMax = 2
      await world.run(["files", "put", "changing.bin"], { env })
      for (const upload of keptUploads()) await world.client.files.abort(upload)
      proxy.partsMax = Number.POSITIVE_INFINITY
      const whole = await world.json(["files", "put", "changing.bin"], { env })
      assert.deepStrictEqual(Buffer.from(await bytesOf(whole.file_id)), large)
    } finally {
      await proxy.close()
    }
  })
})

const bytesOf = async (fileId: string): Promise<ArrayBuffer> =>
  (await world.client.files.download(fileId)).arrayBuffer()

/** The ids of the uploads that the commands remember. */
const keptUploads = (): ReadonlyArray<string> => {
  const folder = local("state/weft/uploads")
  assert.isTrue(existsSync(folder))
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")).upload_id)
}
