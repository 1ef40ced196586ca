/** The guest layers as one script, whose value is the kernel's `boot`. */
import { fileURLToPath } from "node:url"
import { build } from "esbuild"
import { guestEntry } from "../Entries.ts"

export const buildGuestScript = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(guestEntry)],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "guest",
    platform: "neutral",
    target: "es2024",
    conditions: ["weft-source"],
    minifySyntax: true,
    minifyWhitespace: true,
    // The variable of the bundle must not become a property of the realm's global object. And modules are strict
    // code, which the bundler does not say in a script: sloppy functions can be found out by those they call.
    banner: { js: '(()=>{"use strict";' },
    footer: { js: "return guest.boot})()" },
    logLevel: "silent",
    legalComments: "none"
  })
  const text = outputFiles[0]?.text
  if (text === undefined) throw new Error("the guest layers bundle to nothing")
  return text
}
