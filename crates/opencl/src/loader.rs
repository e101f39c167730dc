//! OpenCL's functions, looked for in the system's library when the first is called.
//!
//! The bindings of `ocl` would have the library linked: a program could then neither be linked nor
//! started where there is none. So the functions that they name are defined here (see `build.rs`),
//! and pass their arguments on. Those of images, of OpenGL and the like, which nobody calls, are
//! there for the linker alone.

use ocl::ffi::{
    cl_bool, cl_command_queue, cl_command_queue_info, cl_command_queue_properties, cl_context, cl_context_info,
    cl_context_properties, cl_device_id, cl_device_info, cl_device_type, cl_event, cl_int, cl_kernel, cl_kernel_info,
    cl_mem, cl_mem_flags, cl_platform_id, cl_platform_info, cl_program, cl_program_build_info, cl_program_info,
    cl_uint,
};
use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

/// What a function gives where there is no OpenCL: `CL_PLATFORM_NOT_FOUND_KHR`.
const NOT_FOUND: cl_int = -1001;

/// What those give that nobody calls: `CL_INVALID_OPERATION`.
const INVALID_OPERATION: cl_int = -59;

/// The variable that names the library, where it is not the system's.
pub const LIBRARY: &str = "EXUVIA_OPENCL";

/// The library, or why there is none.
fn library() -> &'static Result<libloading::Library, String> {
    static LIBRARY_OF_PROCESS: OnceLock<Result<libloading::Library, String>> = OnceLock::new();
    LIBRARY_OF_PROCESS.get_or_init(|| {
        let default = if cfg!(windows) { "OpenCL.dll" } else { "libOpenCL.so.1" };
        let name = std::env::var_os(LIBRARY).unwrap_or_else(|| default.into());
        // SAFETY: the initialisation of an OpenCL loader has no requirements.
        unsafe { libloading::Library::new(&name) }.map_err(|error| match std::error::Error::source(&error) {
            Some(cause) => cause.to_string(),
            None => error.to_string(),
        })
    })
}

/// Why OpenCL's library cannot be opened.
pub(crate) fn missing() -> Option<&'static str> {
    library().as_ref().err().map(String::as_str)
}

macro_rules! forwarded {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) -> $ret:ty, $absent:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
                type Function = unsafe extern "C" fn($($ty),*) -> $ret;
                static FOUND: OnceLock<Option<Function>> = OnceLock::new();
                let found = FOUND.get_or_init(|| {
                    let library = library().as_ref().ok()?;
                    // SAFETY: the function of that name has this signature in OpenCL 1.2, and the
                    // library is never closed.
                    unsafe { library.get::<Function>(concat!(stringify!($name), "\0").as_bytes()) }.ok().map(|f| *f)
                });
                match found {
                    // SAFETY: the caller keeps what OpenCL asks of it.
                    Some(function) => unsafe { function($($arg),*) },
                    None => $absent,
                }
            }
        )*
    };
}

macro_rules! absent {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> cl_int {
                INVALID_OPERATION
            }
        )*
    };
}

macro_rules! absent_object {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> *mut c_void {
                std::ptr::null_mut()
            }
        )*
    };
}

/// The functions that `callback` stands for take none.
type NoCallback = *const c_void;

forwarded! {
    fn clGetPlatformIDs(room: cl_uint, ids: *mut cl_platform_id, count: *mut cl_uint) -> cl_int, NOT_FOUND;
    fn clGetPlatformInfo(id: cl_platform_id, what: cl_platform_info, room: usize, to: *mut c_void, size: *mut usize)
        -> cl_int, NOT_FOUND;
    fn clGetDeviceIDs(
        platform: cl_platform_id, kind: cl_device_type, room: cl_uint, ids: *mut cl_device_id, count: *mut cl_uint
    ) -> cl_int, NOT_FOUND;
    fn clGetDeviceInfo(id: cl_device_id, what: cl_device_info, room: usize, to: *mut c_void, size: *mut usize)
        -> cl_int, NOT_FOUND;
    fn clRetainDevice(id: cl_device_id) -> cl_int, NOT_FOUND;
    fn clReleaseDevice(id: cl_device_id) -> cl_int, NOT_FOUND;
    fn clCreateContext(
        properties: *const cl_context_properties, count: cl_uint, ids: *const cl_device_id, callback: NoCallback,
        data: *mut c_void, error: *mut cl_int
    ) -> cl_context, std::ptr::null_mut();
    fn clGetContextInfo(id: cl_context, what: cl_context_info, room: usize, to: *mut c_void, size: *mut usize)
        -> cl_int, NOT_FOUND;
    fn clRetainContext(id: cl_context) -> cl_int, NOT_FOUND;
    fn clReleaseContext(id: cl_context) -> cl_int, NOT_FOUND;
    fn clCreateCommandQueue(
        context: cl_context, device: cl_device_id, properties: cl_command_queue_properties, error: *mut cl_int
    ) -> cl_command_queue, std::ptr::null_mut();
    fn clGetCommandQueueInfo(
        id: cl_command_queue, what: cl_command_queue_info, room: usize, to: *mut c_void, size: *mut usize
    ) -> cl_int, NOT_FOUND;
    fn clRetainCommandQueue(id: cl_command_queue) -> cl_int, NOT_FOUND;
    fn clReleaseCommandQueue(id: cl_command_queue) -> cl_int, NOT_FOUND;
    fn clFinish(id: cl_command_queue) -> cl_int, NOT_FOUND;
    fn clCreateBuffer(context: cl_context, flags: cl_mem_flags, size: usize, host: *mut c_void, error: *mut cl_int)
        -> cl_mem, std::ptr::null_mut();
    fn clRetainMemObject(id: cl_mem) -> cl_int, NOT_FOUND;
    fn clReleaseMemObject(id: cl_mem) -> cl_int, NOT_FOUND;
    fn clCreateProgramWithSource(
        context: cl_context, count: cl_uint, texts: *const *const c_char, sizes: *const usize, error: *mut cl_int
    ) -> cl_program, std::ptr::null_mut();
    fn clBuildProgram(
        id: cl_program, count: cl_uint, devices: *const cl_device_id, options: *const c_char, callback: NoCallback,
        data: *mut c_void
    ) -> cl_int, NOT_FOUND;
    fn clGetProgramInfo(id: cl_program, what: cl_program_info, room: usize, to: *mut c_void, size: *mut usize)
        -> cl_int, NOT_FOUND;
    fn clGetProgramBuildInfo(
        id: cl_program, device: cl_device_id, what: cl_program_build_info, room: usize, to: *mut c_void,
        size: *mut usize
    ) -> cl_int, NOT_FOUND;
    fn clRetainProgram(id: cl_program) -> cl_int, NOT_FOUND;
    fn clReleaseProgram(id: cl_program) -> cl_int, NOT_FOUND;
    fn clCreateKernel(id: cl_program, name: *const c_char, error: *mut cl_int) -> cl_kernel, std::ptr::null_mut();
    fn clGetKernelInfo(id: cl_kernel, what: cl_kernel_info, room: usize, to: *mut c_void, size: *mut usize)
        -> cl_int, NOT_FOUND;
    fn clRetainKernel(id: cl_kernel) -> cl_int, NOT_FOUND;
    fn clReleaseKernel(id: cl_kernel) -> cl_int, NOT_FOUND;
    fn clSetKernelArg(id: cl_kernel, at: cl_uint, size: usize, value: *const c_void) -> cl_int, NOT_FOUND;
    fn clEnqueueNDRangeKernel(
        queue: cl_command_queue, kernel: cl_kernel, dims: cl_uint, offset: *const usize, size: *const usize,
        group: *const usize, waits: cl_uint, events: *const cl_event, event: *mut cl_event
    ) -> cl_int, NOT_FOUND;
    fn clEnqueueWriteBuffer(
        queue: cl_command_queue, buffer: cl_mem, blocking: cl_bool, offset: usize, size: usize, from: *const c_void,
        waits: cl_uint, events: *const cl_event, event: *mut cl_event
    ) -> cl_int, NOT_FOUND;
    fn clEnqueueReadBuffer(
        queue: cl_command_queue, buffer: cl_mem, blocking: cl_bool, offset: usize, size: usize, to: *mut c_void,
        waits: cl_uint, events: *const cl_event, event: *mut cl_event
    ) -> cl_int, NOT_FOUND;
    fn clRetainEvent(id: cl_event) -> cl_int, NOT_FOUND;
    fn clReleaseEvent(id: cl_event) -> cl_int, NOT_FOUND;
    fn clWaitForEvents(count: cl_uint, events: *const cl_event) -> cl_int, NOT_FOUND;
}

absent! {
    clGetEventInfo clGetSupportedImageFormats clGetSamplerInfo clGetMemObjectInfo clGetKernelWorkGroupInfo
    clGetKernelArgInfo clGetImageInfo clGetEventProfilingInfo clUnloadPlatformCompiler clSetUserEventStatus
    clSetMemObjectDestructorCallback clSetEventCallback clRetainSampler clReleaseSampler clGetGLContextInfoKHR
    clFlush clEnqueueWriteImage clEnqueueWriteBufferRect clEnqueueUnmapMemObject clEnqueueTask clEnqueueReadImage
    clEnqueueReadBufferRect clEnqueueNativeKernel clEnqueueMigrateMemObjects clEnqueueMarkerWithWaitList
    clEnqueueFillImage clEnqueueFillBuffer clEnqueueCopyImageToBuffer clEnqueueCopyImage
    clEnqueueCopyBufferToImage clEnqueueCopyBufferRect clEnqueueCopyBuffer clEnqueueBarrierWithWaitList
    clCreateKernelsInProgram clCompileProgram clEnqueueAcquireGLObjects clEnqueueReleaseGLObjects
    clGetGLObjectInfo clGetGLTextureInfo clCreateSubDevices clUnloadCompiler clEnqueueMarker
    clEnqueueWaitForEvents clEnqueueBarrier
}

absent_object! {
    clGetExtensionFunctionAddressForPlatform clLinkProgram clEnqueueMapImage clEnqueueMapBuffer clCreateUserEvent
    clCreateSubBuffer clCreateSampler clCreateProgramWithIL clCreateProgramWithBinary clCreateImage
    clCreateContextFromType clCreateFromGLBuffer clCreateFromGLRenderbuffer clCreateFromGLTexture
    clCreateProgramWithBuiltInKernels
}
