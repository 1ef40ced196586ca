/** `node:stream`: the package `readable-stream`, which is Node's own code, and the converters to streams of the Web. */
import Base from "readable-stream/lib/stream.js"
import * as web from "./webStreams.ts"

const duplexPair = (options?: object) => {
  const makeSide = (read: () => void, other: () => InstanceType<typeof Base.Duplex>) => {
    let taken: (() => void) | undefined
    return new Base.Duplex({
      ...options,
      read: () => {
        const done = taken
        taken = undefined
        done?.()
        read()
      },
      write: (chunk: unknown, _encoding: string, done: () => void) => {
        if (other().push(chunk)) done()
        else taken = done
      },
      final: (done: () => void) => {
        other().push(null)
        done()
      }
    })
  }
  const nothing = (): void => undefined
  const pair: [InstanceType<typeof Base.Duplex>, InstanceType<typeof Base.Duplex>] = [
    makeSide(nothing, () => pair[1]),
    makeSide(nothing, () => pair[0])
  ]
  return pair
}

Object.assign(Base.Readable, { fromWeb: web.toReadable, toWeb: web.fromReadable })
Object.assign(Base.Writable, { fromWeb: web.toWritable, toWeb: web.fromWritable })
Object.assign(Base.Duplex, { fromWeb: web.toDuplex, toWeb: web.fromDuplex })
const _isArrayBufferView = ArrayBuffer.isView
Object.assign(Base, { duplexPair, _isArrayBufferView })

const { Readable, Writable, Duplex, Transform, PassThrough, Stream, addAbortSignal, finished, pipeline, promises } =
  Base
const member = (name: string): unknown => Reflect.get(Base, name)
const [compose, destroy, isDestroyed, isDisturbed] = ["compose", "destroy", "isDestroyed", "isDisturbed"].map(member)
const [isErrored, isReadable, isWritable] = ["isErrored", "isReadable", "isWritable"].map(member)
const [_isUint8Array, _uint8ArrayToBuffer] = ["_isUint8Array", "_uint8ArrayToBuffer"].map(member)
const [getDefaultHighWaterMark, setDefaultHighWaterMark] = ["getDefaultHighWaterMark", "setDefaultHighWaterMark"].map(
  member
)

export {
  _isArrayBufferView,
  _isUint8Array,
  _uint8ArrayToBuffer,
  addAbortSignal,
  compose,
  Duplex,
  destroy,
  duplexPair,
  finished,
  getDefaultHighWaterMark,
  isDestroyed,
  isDisturbed,
  isErrored,
  isReadable,
  isWritable,
  PassThrough,
  pipeline,
  promises,
  Readable,
  Stream,
  setDefaultHighWaterMark,
  Transform,
  Writable
}
export default Base
