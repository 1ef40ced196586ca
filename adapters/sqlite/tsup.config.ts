import { weftPackage } from "../../tooling/src/build/preset.ts"

// Every host waits for this thread when it starts.
export default weftPackage({ programs: ["JournalWorker"] })
