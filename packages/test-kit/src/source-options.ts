import { typescript } from '@wagate/devnet/app-process'

/** For a Node process that runs a program of ours from source. */
export const sourceOptions = ['--import', typescript, '--conditions=source']
