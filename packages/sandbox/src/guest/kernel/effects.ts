/** Host calls that a durable function may make outside of its steps. All others have effects, or results that change. */
import { NativeSet, setAdd, setHas, slice } from "./primordials.ts"

const harmless = new NativeSet<string>()
for (const op of [
  // Secrets and files of the build do not change in a run, or seldom.
  ...["context.get", "context.all", "asset.get"],
  // Parts of an operation that has begun.
  ...["content.read", "content.cancel", "fetch.write", "fetch.cancel", "files.write", "files.cancel"],
  ...["websocket.send", "websocket.receive", "websocket.close", "websocket.cancel"],
  ...["socket.read", "socket.write", "socket.secure", "socket.close"]
]) {
  setAdd(harmless, op)
}

/** True if the host call must be in the body of a step, so that a replay does not repeat it. */
export const needsStep = (op: string): boolean => slice(op, 0, 9) !== "workflow." && !setHas(harmless, op)
