import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { BreakingProxy } from "./BreakingProxy.ts"
import { CliHarness } from "./CliHarness.ts"

let harness: CliHarness
beforeAll(async () => {
  harness = await CliHarness.start()
  mkdirSync(join(harness.folder, "site", "css"), { recursive: true })
  writeFileSync(join(harness.folder, "site", "index.html"), "<h1>Weft</h1>")
  writeFileSync(join(harness.folder, "site", "css", "main.css"), "h1 { color: teal }")
})
afterAll(() => harness.close())

const local = (name: string): string => join(harness.folder, name)

/** Larger than one part, with different bytes in each part. */
const large = Buffer.alloc(20 * 1024 ** 2, "weft files put ")

describe("weft files", () => {
  it("uploads files to the given paths and downloads them", async () => {
    writeFileSync(local("report.csv"), "a,b\n1,2\n")
    const [own, folder, exact, stdin] = await Promise.all([
      harness.json(["files", "put", "report.csv"]),
      harness.json(["files", "put", "report.csv", "reports/"]),
      harness.json(["files", "put", "report.csv", "reports/today", "--content-type", "text/x-report"]),
      harness.json(["files", "put", "-", "notes/hello.txt"], { stdin: "hello" })
    ])
    assert.deepInclude(own, { path: "report.csv", size: 8, content_type: "text/csv" })
    assert.deepInclude(folder, { path: "reports/report.csv" })
    assert.deepInclude(exact, { path: "reports/today", content_type: "text/x-report" })
    assert.deepInclude(stdin, { path: "notes/hello.txt", size: 5, content_type: "text/plain" })
    const [list, out, got] = await Promise.all([
      harness.run(["files", "list", "reports/"]),
      harness.run(["files", "get", "notes/hello.txt", "-"]),
      harness.run(["files", "get", "reports/today", "copies/"])
    ])
    assert.match(
      list.stdout,
      /^PATH +SIZE +CHANGED +TYPE\nreports\/report\.csv +8 B +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +text\/csv\n/
    )
    assert.deepInclude(out, { code: 0, stdout: "hello" })
    assert.strictEqual(readFileSync(local("copies/today"), "utf8"), "a,b\n1,2\n", got.stderr)
  })

  it("uploads, downloads and deletes folders", async () => {
    const put = await harness.run(["files", "put", "--recursive", "site", "public/"])
    assert.deepInclude(put, { code: 0, stderr: "" })
    assert.sameMembers(put.stdout.trim().split("\n"), ["public/css/main.css  18 B", "public/index.html  13 B"])
    await harness.run(["files", "get", "--recursive", "public", "back"])
    assert.strictEqual(readFileSync(local("back/css/main.css"), "utf8"), "h1 { color: teal }")
    const link = await harness.run(["files", "url", "public/index.html", "--expires", "7d"])
    const { pathname, search } = new URL(link.stdout.trim())
    assert.strictEqual(await (await fetch(`${harness.listening.url}${pathname}${search}`)).text(), "<h1>Weft</h1>")
    const removed = await harness.run(["files", "rm", "--recursive", "public"])
    assert.strictEqual(removed.stdout, "Removed public/css/main.css\nRemoved public/index.html\n")
    assert.deepStrictEqual(await harness.json(["files", "list", "public/"]), [])
  })

  it("reports invalid arguments without changing files", async () => {
    writeFileSync(local("kept.txt"), "mine")
    await harness.client.files.put("kept.txt", "theirs")
    await harness.client.files.put("folder/inside.txt", "x")
    const [folder, remote, kept, unnamed, missing, unknown] = await Promise.all([
      harness.run(["files", "put", "site"]),
      harness.run(["files", "get", "folder"]),
      harness.run(["files", "get", "kept.txt"]),
      harness.run(["files", "put", "-"], { stdin: "x" }),
      harness.run(["files", "put", "none.txt"]),
      harness.run(["files", "rm", "none.txt"])
    ])
    assert.deepInclude(folder, {
      code: 2,
      stderr: "error site is a folder\nhint  give --recursive to upload all files in it\n"
    })
    assert.deepInclude(remote, {
      code: 1,
      stderr: "error No file exists at folder\nhint  it is a folder: give --recursive\n"
    })
    assert.include(kept.stderr, "--force replaces it")
    assert.strictEqual(readFileSync(local("kept.txt"), "utf8"), "mine")
    assert.deepInclude(unnamed, { code: 2 })
    assert.deepInclude(missing, { code: 1, stderr: "error none.txt cannot be read: no such file\n" })
    assert.deepInclude(unknown, { code: 1 })
    await harness.run(["files", "get", "kept.txt", "--force"])
    assert.strictEqual(readFileSync(local("kept.txt"), "utf8"), "theirs")
  })

  it("resumes an interrupted upload when the command is repeated", async () => {
    writeFileSync(local("large.bin"), large)
    const proxy = await BreakingProxy.start(harness.listening.url)
    const env = { WEFT_URL: proxy.url }
    try {
      proxy.partsMax = 2
      const broken = await harness.run(["files", "put", "large.bin"], { env })
      assert.deepInclude(broken, { code: 1, stdout: "" })
      assert.include(broken.stderr, "hint  repeat the command to resume the upload\n")
      assert.strictEqual(proxy.parts, 2)
      proxy.partsMax = Number.POSITIVE_INFINITY
      const whole = await harness.json(["files", "put", "large.bin"], { env })
      assert.deepInclude(whole, { path: "large.bin", size: large.byteLength })
      assert.strictEqual(proxy.parts, 3)
      assert.deepStrictEqual(Buffer.from(await bytesOf(whole.file_id)), large)
    } finally {
      await proxy.close()
    }
  })

  it("restarts an upload if the file has changed or the server has aborted the upload", async () => {
    writeFileSync(local("changing.bin"), large)
    const proxy = await BreakingProxy.start(harness.listening.url)
    const env = { WEFT_URL: proxy.url }
    try {
      proxy.partsMax = 1
      await harness.run(["files", "put", "changing.bin"], { env })
      writeFileSync(local("changing.bin"), large.fill("other bytes"))
      utimesSync(local("changing.bin"), 1_000_000_000, 1_000_000_000)
      proxy.partsMax = 2
      await harness.run(["files", "put", "changing.bin"], { env })
      for (const upload of keptUploads()) await harness.client.files.abort(upload)
      proxy.partsMax = Number.POSITIVE_INFINITY
      const whole = await harness.json(["files", "put", "changing.bin"], { env })
      assert.deepStrictEqual(Buffer.from(await bytesOf(whole.file_id)), large)
    } finally {
      await proxy.close()
    }
  })
})

const bytesOf = async (fileId: string): Promise<ArrayBuffer> =>
  (await harness.client.files.download(fileId)).arrayBuffer()

/** Returns the ids of uploads whose state is saved. */
const keptUploads = (): ReadonlyArray<string> => {
  const folder = local("state/weft/uploads")
  assert.isTrue(existsSync(folder))
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")).upload_id)
}
