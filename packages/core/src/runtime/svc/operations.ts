/**
 * All operations of guests, except the functions of the host (`host.<name>`), whose names belong to the host.
 *
 * To add one, write its file in `operations/`, list it here, and run `npm run generate -w packages/core`.
 */
import { assetGet, assetOpen } from "./operations/asset.ts"
import { call } from "./operations/call.ts"
import { contentCancel, contentRead } from "./operations/content.ts"
import { contextAll, contextGet } from "./operations/context.ts"
import { dnsLookup } from "./operations/dns.ts"
import { eventsPublish } from "./operations/events.ts"
import { fetchCancel, fetchRead, fetchSend, fetchWrite } from "./operations/fetch.ts"
import {
  filesBegin,
  filesCancel,
  filesDelete,
  filesGet,
  filesList,
  filesOpen,
  filesPut,
  filesUrl,
  filesWrite
} from "./operations/files.ts"
import { mcpElicit, mcpLog, mcpProgress, mcpSample, mcpUpdated } from "./operations/mcp.ts"
import { schedulesCancel, schedulesCreate } from "./operations/schedules.ts"
import { socketClose, socketOpen, socketRead, socketSecure, socketWrite } from "./operations/sockets.ts"
import { streamEmit } from "./operations/stream.ts"
import {
  webSocketCancel,
  webSocketClose,
  webSocketOpen,
  webSocketReceive,
  webSocketSend
} from "./operations/webSockets.ts"

export const operations = [
  ...[contextGet, contextAll],
  eventsPublish,
  call,
  ...[schedulesCreate, schedulesCancel],
  streamEmit,
  ...[mcpLog, mcpProgress, mcpSample, mcpElicit, mcpUpdated],
  ...[filesPut, filesBegin, filesWrite, filesCancel, filesGet, filesOpen, filesList, filesDelete, filesUrl],
  ...[assetGet, assetOpen],
  ...[contentRead, contentCancel],
  ...[fetchSend, fetchWrite, fetchRead, fetchCancel],
  ...[webSocketOpen, webSocketSend, webSocketReceive, webSocketClose, webSocketCancel],
  dnsLookup,
  ...[socketOpen, socketRead, socketWrite, socketSecure, socketClose]
] as const
