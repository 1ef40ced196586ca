/** The namespace `github`: the webhook of GitHub and the handlers of its events. */
export { onAny } from "./onAny.ts"
export { onIssue } from "./onIssue.ts"
export { onPullRequest } from "./onPullRequest.ts"
export { onPush } from "./onPush.ts"
export { onRelease } from "./onRelease.ts"
export { onStar } from "./onStar.ts"
export { receive } from "./receive.ts"
