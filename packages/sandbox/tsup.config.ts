import { weftPackage } from "../../tooling/src/build/preset.ts"

// What runs inside an isolate finds no modules there.
export default weftPackage({ program: "guest" })
