import { weftPackage } from "../../tooling/src/build/preset.ts"
import { guestBuild } from "./src/supervisor/GuestBuild.ts"

// What runs inside an isolate finds no modules there. A runner is a process that is to start quickly.
export default weftPackage({
  scripts: { guest: guestBuild },
  programs: ["runner/main"]
})
