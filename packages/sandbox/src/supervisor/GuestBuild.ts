/** How the guest layers become one script. */
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
  // The variable of the bundle must not become a property of the realm's global object. And modules are strict
  // code, which the bundler does not say in a script: sloppy functions can be found out by those they call.
  banner: { js: '(()=>{"use strict";' },
  footer: { js: "return guest.boot})()" },
  logLevel: "silent",
  legalComments: "none"
} satisfies BuildOptions
