/** Build options of the scripts that run in an isolate before its bundle. */
import type { BuildOptions } from "esbuild"

export const guestBuild = {
  bundle: true,
  format: "iife",
  globalName: "guest",
  platform: "neutral",
  target: "es2024",
  conditions: ["weft-source"],
  minifySyntax: true,
  minifyWhitespace: true,
  // The function keeps the bundle's variable from becoming a property of the realm's global object. Modules are strict
  // code, but the bundler omits the directive in a script: functions called by sloppy code can inspect their callers.
  banner: { js: '(()=>{"use strict";' },
  footer: { js: "return guest.boot})()" },
  logLevel: "silent",
  legalComments: "none"
} satisfies BuildOptions

/** Options of the optional scripts: functions of `platform`, and of `tables` for encodings. */
const optionalBuild = (name: string, parameters: string) =>
  ({
    ...guestBuild,
    globalName: name,
    banner: { js: `((${parameters})=>{"use strict";` },
    footer: { js: `${name}.install()})` }
  }) satisfies BuildOptions

export const optionalBuilds = {
  optional: optionalBuild("optional", "platform"),
  encodings: optionalBuild("encodings", "platform,tables")
}

/** Options of the program of sessions: a module, which is compiled together with the build of its context. */
export const sessionBuild = {
  bundle: true,
  format: "esm",
  platform: "neutral",
  mainFields: ["module", "main"],
  target: "es2024",
  conditions: ["weft-source"],
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: "silent",
  legalComments: "none"
} satisfies BuildOptions
