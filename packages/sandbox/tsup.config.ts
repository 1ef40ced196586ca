import { weftPackage } from "../../tooling/src/build/preset.ts"
import { guestBuild, optionalBuilds, sessionBuild } from "./src/supervisor/GuestBuild.ts"

// An isolate has no modules, and a runner must start quickly: both are bundled.
export default weftPackage({
  scripts: {
    guest: guestBuild,
    "guest/optional": optionalBuilds.optional,
    "guest/encodings": optionalBuilds.encodings,
    "guest/repl": sessionBuild
  },
  programs: ["runner/main"]
})
