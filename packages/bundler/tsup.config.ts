import { weftPackage } from "../../tooling/src/build/preset.ts"

export default weftPackage()
