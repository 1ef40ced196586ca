/** Projects as people write them, and their bundles. */
import { assert, describe, it } from "vitest"
import { bundleFiles, codeOf, failureOf, inputsOf, runMain } from "./Projects.ts"

const manifest = (value: object): string => JSON.stringify(value)

describe("a bundle", () => {
  it("of code without packages contains that code only", async () => {
    assert.strictEqual(
      await codeOf({ "index.ts": "export const main = (): number => 1" }),
      "// index.ts\nvar main = () => 1;\nexport {\n  main\n};\n//# sourceMappingURL=index.js.map\n"
    )
  })

  it("is the same for the same sources", async () => {
    const files = {
      "index.ts": 'import { Buffer as B } from "node:buffer"\nexport const main = () => [B, process.version]'
    }
    assert.strictEqual(await codeOf(files), await codeOf(files))
  })

  it("lists the files that it was made from", async () => {
    const { inputs, folder } = await inputsOf({
      "index.ts":
        "import { value } from './other.ts'\nexport const main = () => [value, require('buffer'), require('net')]",
      "other.ts": "export const value = 1"
    })
    const own = inputs.filter((input) => input.startsWith(folder))
    assert.deepStrictEqual(own.toSorted(), [`${folder}/index.ts`, `${folder}/other.ts`])
    assert.isTrue(inputs.every((input) => !input.includes(":")))
  })

  it("has a source map that names the sources without their text", async () => {
    const files = await bundleFiles({ "src/index.ts": "export const main = () => 1" }, { entry: "src/index.ts" })
    const map: unknown = JSON.parse(new TextDecoder().decode(files["index.js.map"]))
    assert.deepInclude(map, { version: 3, sources: ["src/index.ts"] })
    assert.notProperty(map, "sourcesContent")
  })

  it("replaces the environment, and names of files", async () => {
    const code = "export const main = () => [process.env.NODE_ENV, import.meta.url, __dirname, typeof global]"
    assert.deepStrictEqual(await runMain({ "index.ts": code }), ["production", "file:///index.js", "/", "object"])
    assert.notInclude(await codeOf({ "index.ts": code }), "nextTick")
  })

  it("contains globals of Node only if the code mentions them", async () => {
    const code = "export const main = () => [Buffer.from('a').toString('hex'), process.cwd(), typeof setImmediate]"
    assert.deepStrictEqual(await runMain({ "index.ts": code }), ["61", "/", "function"])
    const property = "const root = globalThis\nexport const main = () => root.Buffer.from('a').length"
    assert.strictEqual(await runMain({ "index.ts": property }), 1)
    const local = "const Buffer = 1\nconst process = 2\nexport const main = () => [Buffer, process]"
    assert.isBelow((await codeOf({ "index.ts": local })).length, 300)
  })

  it("accepts TypeScript, JSX, ES modules and CommonJS without configuration", async () => {
    const result = await runMain({
      "index.ts": `import { element } from "./view.jsx"
        import { enabled } from "./common.cjs"
        import plain from "./plain.js"
        enum Kind { A = 3 }
        export const main = (): unknown => [element, enabled, plain, Kind.A satisfies number]`,
      "view.jsx": "export const element = <b title='x'>hi</b>",
      "common.cjs": "exports.enabled = require('./more.cjs').value",
      "more.cjs": "module.exports = { value: true }",
      "plain.js": "export default (() => 'plain')()",
      "node_modules/react/package.json": manifest({ name: "react", exports: { "./jsx-runtime": "./jsx.js" } }),
      "node_modules/react/jsx.js": "export const jsx = (type, props) => [type, props]"
    })
    assert.deepStrictEqual(result, [["b", { title: "x", children: "hi" }], true, "plain", 3])
  })

  it("includes dynamic imports of a constant name", async () => {
    const files = {
      "index.ts": "export const main = async () => (await import('./late.ts')).value",
      "late.ts": "export const value = 7"
    }
    assert.strictEqual(await runMain(files), 7)
  })

  it("includes JSON, text and bytes", async () => {
    const result = await runMain({
      "index.ts": `import data from "./data.json"
        import text from "./mail.txt"
        import page from "./page.html"
        import query from "./query.sql"
        import bytes from "./code.wasm"
        export const main = () => [data.a, text, page, query, [...bytes]]`,
      "data.json": '{"a": 1}',
      "mail.txt": "hello",
      "page.html": "<p>",
      "query.sql": "select 1",
      "code.wasm": new Uint8Array([0, 97, 115, 109])
    })
    assert.deepStrictEqual(result, [1, "hello", "<p>", "select 1", [0, 97, 115, 109]])
  })

  it("selects the exports of a package for workers, and fields of its manifest otherwise", async () => {
    const result = await runMain(
      {
        "index.ts": `import worker from "worker-package"
        import own from "own-package"
        import module from "module-package"
        export const main = () => [worker, own, module]`,
        "node_modules/worker-package/package.json": manifest({
          name: "worker-package",
          exports: { ".": { workerd: "./workerd.mjs", node: "./node.mjs", default: "./default.mjs" } }
        }),
        "node_modules/worker-package/workerd.mjs": "export default 'workerd'",
        "node_modules/own-package/package.json": manifest({
          name: "own-package",
          exports: { ".": { staging: "./staging.mjs", default: "./default.mjs" } }
        }),
        "node_modules/own-package/staging.mjs": "export default 'staging'",
        "node_modules/module-package/package.json": manifest({
          name: "module-package",
          main: "./main.js",
          module: "./module.js"
        }),
        "node_modules/module-package/module.js": "export default 'module'"
      },
      { conditions: ["staging"] }
    )
    assert.deepStrictEqual(result, ["workerd", "staging", "module"])
  })

  it("follows aliases, and paths of tsconfig.json", async () => {
    const files = {
      "index.ts": "import a from 'old'\nimport b from '@/b'\nexport const main = () => [a, b]",
      "tsconfig.json": manifest({ compilerOptions: { paths: { "@/*": ["./source/*"] } } }),
      "source/b.ts": "export default 'path'",
      "node_modules/new/index.js": "module.exports = 'alias'"
    }
    assert.deepStrictEqual(await runMain(files, { alias: { old: "new" } }), ["alias", "path"])
    const hashes = { "index.ts": "import { hash } from 'hashes'\nexport const main = () => hash('md5', 'a')" }
    assert.strictEqual(await runMain(hashes, { alias: { hashes: "node:crypto" } }), "0cc175b9c0f1b6a831c399e269772661")
  })

  it("includes packages of workspaces, and those in the layout of pnpm", async () => {
    const store = "node_modules/.pnpm/left@1.0.0/node_modules"
    const result = await runMain(
      {
        "apps/shop/index.ts":
          "import { shared } from '@acme/shared'\nimport left from 'left'\nexport const main = () => [shared, left]",
        "packages/shared/package.json": manifest({ name: "@acme/shared", exports: "./src/index.ts" }),
        "packages/shared/src/index.ts": "export const shared: string = 'workspace'",
        "node_modules/@acme/shared": { link: "packages/shared" },
        [`${store}/left/index.js`]: "module.exports = 'left ' + require('right')",
        [`${store}/right/index.js`]: "module.exports = 'right'",
        "apps/shop/node_modules/left": { link: `${store}/left` }
      },
      { entry: "apps/shop/index.ts" }
    )
    assert.deepStrictEqual(result, ["workspace", "left right"])
  })
})

describe("a package that calls require in an ES module", () => {
  it("gets the modules of constant names", async () => {
    const result = await runMain({
      "index.ts": "export { main } from 'mixed'",
      "node_modules/mixed/package.json": manifest({
        name: "mixed",
        type: "module",
        exports: "./index.js",
        version: "1.2.3"
      }),
      "node_modules/mixed/index.js": `import { createRequire } from "node:module"
        const load = createRequire(import.meta.url)
        export const main = () => [load("./package.json").version, load("./old.cjs")]`,
      "node_modules/mixed/old.cjs": "module.exports = 'old'"
    })
    assert.deepStrictEqual(result, ["1.2.3", "old"])
  })
})

const optional = {
  "node_modules/wants/package.json": manifest({ name: "wants", main: "index.js" }),
  "node_modules/wants/index.js": `let fast
    try { fast = require("fast-native") } catch (error) { fast = error.code }
    exports.fast = fast
    exports.late = () => require("not-there").call()
    exports.native = () => require("./build/fast.node")`
}

describe("an import that is missing", () => {
  it("does not keep a package from being deployed, and fails when it is used", async () => {
    const result = await runMain({
      ...optional,
      "index.ts": `import wants from "wants"
        const messageOf = (body) => { try { body() } catch (error) { return error.message } }
        export const main = () => [wants.fast, messageOf(wants.late), messageOf(wants.native)]`
    })
    assert.deepStrictEqual(result, [
      "MODULE_NOT_FOUND",
      "Cannot find module 'not-there': it was not installed when the build was made",
      "Cannot find module './build/fast.node': functions cannot load native code"
    ])
  })

  it("of an ES module fails when a member is called", async () => {
    const result = await runMain({
      "index.ts": `import { late } from "wants"
        export const main = () => { try { return late() } catch ({ message }) { return message } }`,
      "node_modules/wants/package.json": manifest({ name: "wants", type: "module", exports: "./index.js" }),
      "node_modules/wants/index.js": 'import { call } from "not-there"\nexport const late = () => call()'
    })
    assert.strictEqual(result, "Cannot find module 'not-there': it was not installed when the build was made")
  })

  it("of the project itself is an error of the build", async () => {
    const reason = await failureOf({ "index.ts": "import a from 'not-there'\nexport const main = () => a" })
    assert.include(reason, 'index.ts:1:14: ERROR: Could not resolve "not-there"')
  })

  it("is allowed if weft.json lists it as external", async () => {
    const files = {
      "index.ts":
        "import a from 'not-there'\nexport const main = () => { try { return a.b() } catch ({ message }) { return message } }"
    }
    assert.strictEqual(
      await runMain(files, { external: ["not-there"] }),
      "Cannot find module 'not-there': weft.json lists it as external"
    )
  })
})

describe("a module of Node that functions cannot have", () => {
  it("says what to use instead when it is called", async () => {
    const code = `import { spawn } from "node:child_process"
      import * as net from "net"
      import http from "http"
      const messageOf = (body) => { try { body() } catch (error) { return error.message } }
      export const main = async () => [
        messageOf(() => spawn("ls")),
        messageOf(() => http.createServer()),
        await new Promise((resolve) => net.connect(80).on("error", ({ message }) => resolve(message)))
      ]`
    assert.deepStrictEqual(await runMain({ "index.ts": code }), [
      "child_process.spawn is not available in functions: a host function can start programs",
      "http.createServer is not available in functions: export a webhook to receive requests",
      "net.connect is not available in functions: the server must have a release with TCP sockets"
    ])
  })

  it("is an error of the build if Node has no such module", async () => {
    const reason = await failureOf({ "index.ts": "import a from 'node:nothing'\nexport const main = () => a" })
    assert.include(reason, 'Node has no module "node:nothing"')
  })
})
