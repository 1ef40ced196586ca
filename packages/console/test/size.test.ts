import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { consoleApp } from "@weft/tooling/programs"

const app = fileURLToPath(new URL("../dist/app", import.meta.url))

/** Maximum bytes of everything that the first page loads, compressed. */
const firstLoadMax = 180 * 1024

describe("the console", () => {
  it("loads at most 180 KiB compressed for its first page, without inline scripts and styles", async () => {
    await consoleApp()
    const html = readFileSync(join(app, "index.html"), "utf8")
    const files = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, file = ""]) => file)
    assert.isAtLeast(files.length, 2)
    const bytes = files.reduce((sum, file) => sum + statSync(join(app, `${file}.gz`)).size, Buffer.byteLength(html))
    assert.isAtMost(bytes, firstLoadMax)
    // The editor alone is larger than the limit.
    for (const file of files) assert.notInclude(readFileSync(join(app, file), "utf8"), "cm-editor", file)
    assert.isTrue(readdirSync(join(app, "assets")).some((name) => /^CodeEditor-.*\.js$/.test(name)))
    assert.notMatch(html, /<script(?![^>]*src=)|<style|style="/)
  })
})
