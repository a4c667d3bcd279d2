import { protobufRoot } from './protobuf-root.ts'

protobufRoot.restore()
