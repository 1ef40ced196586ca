/** Builds the console into `dist/app`, with compressed copies of each file. */
import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { defineConfig, type Plugin } from "vite"
import solid from "vite-plugin-solid"
import { svcMembers } from "./svcMembers.ts"

/** Adds `.br` and `.gz` files, so that servers need not compress. */
const compressedCopies = (): Plugin => ({
  name: "compressed-copies",
  apply: "build",
  writeBundle: async ({ dir }) => {
    if (dir === undefined) return
    const folder = join(dir, "assets")
    for (const name of await readdir(folder)) {
      if (!/\.(js|css|svg)$/.test(name)) continue
      const bytes = await readFile(join(folder, name))
      const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }
      await writeFile(join(folder, `${name}.br`), await promisify(brotliCompress)(bytes, quality))
      await writeFile(join(folder, `${name}.gz`), await promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }))
    }
  }
})

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  // Relative to the element `base`, whose URL the server sets.
  base: "./",
  plugins: [solid({ hot: false }), svcMembers(), compressedCopies()],
  resolve: { conditions: ["weft-source", "module", "browser", "production", "default"] },
  build: {
    outDir: "dist/app",
    emptyOutDir: true,
    target: ["chrome123", "firefox125", "safari17.5"],
    // The content security policy permits no `data:` scripts, and one file per picture is cached longer.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { assetFileNames: "assets/[name]-[hash][extname]" } }
  },
  clearScreen: false,
  logLevel: "warn"
})
